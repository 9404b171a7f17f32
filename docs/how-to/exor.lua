-- ExOR for Wireshark and tshark: `tshark -X lua_script:exor.lua -r NODE.pcapng`.
-- Packets of a batch have EtherType 0x88b5, probes are UDP to port 11. For captures of ExOR only: MORE has the same numbers.
local exor = Proto("exor", "ExOR")
local types = { [0x11] = "packet", [0x13] = "probe" }
local fields = {
    type = ProtoField.uint8("exor.type", "Type", base.HEX, types),
    flow = ProtoField.uint32("exor.flow", "Flow"),
    batch = ProtoField.uint32("exor.batch", "Batch, by the number of its first packet"),
    packets = ProtoField.uint8("exor.packets", "Packets of the batch"),
    packet = ProtoField.uint8("exor.packet", "Number of the packet in the batch; none: only the map is sent"),
    rank = ProtoField.uint8("exor.rank", "Rank of the sender, 0: the destination"),
    number = ProtoField.uint8("exor.fragment.number", "Packets of the turn that were sent before"),
    size = ProtoField.uint8("exor.fragment.size", "Packets of the turn"),
    node = ProtoField.uint32("exor.node", "Node, by its number, from the destination to the source"),
    map = ProtoField.bytes("exor.map", "Batch map: lowest rank that holds each packet"),
    delivered = ProtoField.uint8("exor.delivered", "Packets at the destination, as the sender knows"),
}
exor.fields = fields

local function packet_of(part, buffer)
    local length = buffer:len()
    local packets, packet, count = buffer(9, 1):uint(), buffer(10, 1):uint(), buffer(14, 1):uint()
    part:add(fields.flow, buffer(1, 4))
    part:add(fields.batch, buffer(5, 4))
    part:add(fields.packets, buffer(9, 1))
    if packet < packets then
        part:add(fields.packet, buffer(10, 1))
    end
    part:add(fields.rank, buffer(11, 1))
    part:add(fields.number, buffer(12, 1))
    part:add(fields.size, buffer(13, 1))
    for at = 15, 15 + 4 * (count - 1), 4 do -- as far as the frame was not cut
        if at + 4 <= length then
            part:add(fields.node, buffer(at, 4))
        end
    end
    local from = 15 + 4 * count
    if from + packets <= length then
        local delivered = 0
        for at = from, from + packets - 1 do
            delivered = delivered + (buffer(at, 1):uint() == 0 and 1 or 0)
        end
        part:add(fields.map, buffer(from, packets))
        part:add(fields.delivered, buffer(from, packets), delivered)
    end
    local what = packet < packets and ", packet " .. packet or ", map alone"
    return ", flow " .. buffer(1, 4):uint() .. ", batch " .. buffer(5, 4):uint() .. what .. ", rank " .. buffer(11, 1):uint()
end

function exor.dissector(buffer, packet, tree)
    local length = buffer:len()
    local type = length > 0 and types[buffer(0, 1):uint()]
    if not type or (type == "packet" and length < 15) then
        return 0
    end
    packet.cols.protocol = "ExOR"
    local part = tree:add(exor, buffer(), "ExOR, " .. type)
    part:add(fields.type, buffer(0, 1))
    local what = type == "packet" and packet_of(part, buffer) or ""
    packet.cols.info = type .. what
    part:append_text(what)
    return length
end

DissectorTable.get("ethertype"):add(0x88b5, exor)
DissectorTable.get("udp.port"):add(11, exor)
