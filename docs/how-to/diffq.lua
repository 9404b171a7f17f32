-- DiffQ's trailer and messages for Wireshark and tshark: `tshark -X lua_script:diffq.lua -r NODE.pcapng`.
-- IP's protocol is 254; TCP or UDP stands before the trailer of 16 bytes, which a cut packet lacks. Messages are UDP to port 11.
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
    node = ProtoField.uint32("diffq.node", "Node that starves"),
    hops = ProtoField.uint8("diffq.hops", "Hops of the call", base.DEC, nil, 0x7f),
    helped = ProtoField.bool("diffq.helped", "Limits have helped", 8, nil, 0x80),
    destination = ProtoField.uint32("diffq.destination", "Destination"),
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

-- Calls of nodes that starve (0x15), and sizes of queues (0x14).
local message = Proto("diffq_message", "DiffQ message")

function message.dissector(buffer, packet, tree)
    local kind = buffer(0, 1):uint()
    if kind == 0x15 and buffer:len() >= 6 then
        local part = tree:add(message, buffer(0, 6), "DiffQ, call of node " .. buffer(2, 4):uint())
        part:add(fields.helped, buffer(1, 1))
        part:add(fields.hops, buffer(1, 1))
        part:add(fields.node, buffer(2, 4))
        packet.cols.info = "DiffQ call"
    elseif kind == 0x14 then
        local part = tree:add(message, buffer(), "DiffQ, sizes of queues")
        for at = 2, buffer:len() - 6, 6 do
            part:add(fields.destination, buffer(at, 4))
            part:add(fields.queue, buffer(at + 4, 2))
        end
        packet.cols.info = "DiffQ sizes"
    end
end

DissectorTable.get("udp.port"):add(11, message)
