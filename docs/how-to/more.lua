-- MORE for Wireshark and tshark: `tshark -X lua_script:more.lua -r NODE.pcapng`.
-- Coded packets have EtherType 0x88b5, acknowledgements and probes are UDP to port 11. For captures of MORE only: ExOR has the same numbers.
local more = Proto("more", "MORE")
local types = { [0x11] = "coded", [0x12] = "acknowledgement", [0x13] = "probe" }
local fields = {
    type = ProtoField.uint8("more.type", "Type", base.HEX, types),
    natives = ProtoField.uint8("more.natives", "Packets of the batch"),
    flow = ProtoField.uint32("more.flow", "Flow"),
    source = ProtoField.uint32("more.source", "Source, by the number of its node"),
    destination = ProtoField.uint32("more.destination", "Destination, by the number of its node"),
    batch = ProtoField.uint32("more.batch", "Batch, by the number of its first packet"),
    node = ProtoField.uint32("more.forwarder", "Forwarder, by the number of its node"),
    credit = ProtoField.double("more.credit", "Credit of a packet from farther away, transmissions"),
    vector = ProtoField.bytes("more.vector", "Coefficients"),
}
more.fields = fields

local function flow(part, bytes)
    part:add(fields.flow, bytes(0, 4))
    part:add(fields.source, bytes(4, 4))
    part:add(fields.destination, bytes(8, 4))
    part:add(fields.batch, bytes(12, 4))
    return "flow " .. bytes(0, 4):uint() .. ", batch " .. bytes(12, 4):uint()
end

function more.dissector(buffer, packet, tree)
    local length = buffer:len()
    local type = length > 0 and types[buffer(0, 1):uint()]
    if not type or (type == "coded" and length < 19) or (type == "acknowledgement" and length < 17) then
        return 0
    end
    packet.cols.protocol = "MORE"
    local part = tree:add(more, buffer(), "MORE, " .. type)
    part:add(fields.type, buffer(0, 1))
    local what = ""
    if type == "acknowledgement" then
        what = ", " .. flow(part, buffer(1, 16))
    elseif type == "coded" then
        local natives, count = buffer(1, 1):uint(), buffer(2, 1):uint()
        part:add(fields.natives, buffer(1, 1))
        what = ", " .. flow(part, buffer(3, 16))
        for at = 19, 19 + 6 * (count - 1), 6 do -- as far as the frame was not cut
            if at + 6 <= length then
                part:add(fields.node, buffer(at, 4))
                part:add(fields.credit, buffer(at + 4, 2), buffer(at + 4, 2):uint() / 1024)
            end
        end
        local from = 19 + 6 * count
        if from + natives <= length then
            part:add(fields.vector, buffer(from, natives))
        end
    end
    packet.cols.info = type .. what
    part:append_text(what)
    return length
end

DissectorTable.get("ethertype"):add(0x88b5, more)
DissectorTable.get("udp.port"):add(11, more)
