"""`airfair reference`: the keys of scenario files."""

from __future__ import annotations

import click

from .. import reference
from .common import subcommand


@subcommand(name="reference")
@click.option(
    "--schema", is_flag=True, help="The JSON Schema instead, with which editors complete scenarios."
)
def show_reference(schema: bool) -> None:
    """Print the reference of scenario files, as Markdown.

    The reference has every table and key with type, default and meaning.

    \b
    Example:
      airfair reference --schema
    """
    print(reference.schema() if schema else reference.scenario_page(), end="")
