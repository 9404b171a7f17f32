-- DiffQ's trailer for Wireshark and tshark: `tshark -X lua_script:diffq.lua -r NODE.pcapng`.
-- IP's protocol is 254; TCP or UDP stands before the trailer of 16 bytes, which a cut packet lacks.
local diffq = Proto("diffq", "DiffQ")
local types = { [1] = "data", [2] = "acknowledgement", [3] = "source-routed" }
local fields = {
    version = ProtoField.uint8("diffq.version", "Version", base.DEC, nil, 0xf0),
    type = ProtoField.uint8("diffq.type", "Type", base.DEC, types, 0x0f),
    written = ProtoField.uint8("diffq.written", "Interfaces that have written it"),
    queue = ProtoField.uint16("diffq.queue", "Queue of the destination, packets"),
    flow = ProtoField.uint32("diffq.flow", "Flow"),
    sent = ProtoField.uint32("diffq.sent_us", "Sent by the source, us"),
    sequence = ProtoField.uint32("diffq.sequence", "Sequence number"),
}
diffq.fields = fields

local LENGTH = 16

function diffq.dissector(buffer, packet, tree)
    local inside = buffer:reported_len() - LENGTH
    -- UDP has its own length, TCP has none: the value is only right for UDP.
    local udp = buffer:len() >= 8 and buffer(4, 2):uint() == inside
    local transport = Dissector.get(udp and "udp" or "tcp")
    if buffer:len() < inside + LENGTH then
        transport:call(buffer, packet, tree) -- cut: TCP then counts the trailer as data
        return
    end
    transport:call(buffer(0, inside):tvb(), packet, tree)
    local trailer = buffer(inside, LENGTH)
    local part = tree:add(diffq, trailer, "DiffQ, queue " .. trailer(2, 2):uint())
    part:add(fields.version, trailer(0, 1))
    part:add(fields.type, trailer(0, 1))
    part:add(fields.written, trailer(1, 1))
    part:add(fields.queue, trailer(2, 2))
    part:add(fields.flow, trailer(4, 4))
    part:add(fields.sent, trailer(8, 4))
    part:add(fields.sequence, trailer(12, 4))
end

DissectorTable.get("ip.proto"):add(254, diffq)
