"""The work of `bench-run` by the compiled package: `package.py path/to/_core.so FILE [--scheme NAME]
[--idle]`.

Nothing else of Python is loaded, so that what starts takes a tenth of what is counted.
"""

import sys
from importlib.machinery import ExtensionFileLoader
from importlib.util import module_from_spec, spec_from_loader

library, file, *options = sys.argv[1:]
loader = ExtensionFileLoader("_core", library)
spec = spec_from_loader("_core", loader)
assert spec is not None
core = module_from_spec(spec)
loader.exec_module(core)
scheme = options[options.index("--scheme") + 1] if "--scheme" in options else None
scenario = core.Scenario.read(file, ["flow=[]"] if "--idle" in options else [])
result = scenario.run(scheme, 1)


def numbers(key: str) -> list[int]:
    """The values of a key in the result, without reading all of it: that would be counted, too."""
    return [int(part.partition(",")[0].rstrip("}")) for part in result.split(f'"{key}":')[1:]]


print(
    f"transmissions {numbers('transmissions')[0]} events {numbers('events')[0]} "
    f"delivered {sum(numbers('delivered_packets'))}"
)
