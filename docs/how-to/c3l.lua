-- C3L's header and messages for Wireshark and tshark: `tshark -X lua_script:c3l.lua -r NODE.pcapng`.
-- The header of 20 bytes stands between IP, whose protocol is 254, and UDP or TCP; messages are UDP to port 11.
-- Rates are shown in bit/s (the bytes are bytes/s); all ones is no limit, or no allocation yet.
local c3l = Proto("c3l", "C3L")
local types = {
    [0x11] = "hello", [0x12] = "probe", [0x13] = "report", [0x14] = "allocation", [0x15] = "stamp", [0x16] = "feedback",
    [0x17] = "word",
}
local fields = {
    type = ProtoField.uint8("c3l.type", "Type", base.HEX, types),
    flow = ProtoField.uint32("c3l.flow", "Flow"),
    allocation = ProtoField.uint64("c3l.allocation_bps", "Smallest allocation, bit/s"),
    rate = ProtoField.uint64("c3l.rate_bps", "Rate of the source, bit/s"),
    received = ProtoField.uint64("c3l.received_bps", "Rate that arrived, bit/s"),
    sequence = ProtoField.uint32("c3l.sequence", "Sequence number"),
    stamped = ProtoField.uint8("c3l.stamped", "Nodes that have stamped it"),
    unstamped = ProtoField.uint8("c3l.unstamped", "Nodes that it has passed without"),
    epoch = ProtoField.uint16("c3l.epoch", "Epoch of the receiver"),
    node = ProtoField.uint32("c3l.node", "Node"),
    controller = ProtoField.uint32("c3l.controller", "Controller"),
    controllers = ProtoField.uint8("c3l.controllers", "Controllers"),
    count = ProtoField.uint16("c3l.count", "Number of the HELLO or probe"),
    part = ProtoField.uint8("c3l.part", "Part, from 0"),
    parts = ProtoField.uint8("c3l.parts", "Parts"),
    round = ProtoField.uint16("c3l.round", "Round"),
    version = ProtoField.uint16("c3l.version", "Version of the list of neighbours"),
    listed = ProtoField.bool("c3l.listed", "Neighbours are listed", 8, nil, 0x01),
    links = ProtoField.uint8("c3l.links", "Links"),
    flows = ProtoField.uint8("c3l.flows", "Flows"),
    neighbours = ProtoField.uint8("c3l.neighbours", "Neighbours"),
    answers = ProtoField.uint8("c3l.answers", "Flows with acknowledgements"),
    valid = ProtoField.uint32("c3l.valid_ms", "Valid for, ms"),
    freshness = ProtoField.uint32("c3l.freshness", "Freshness of the controller"),
    next_hop = ProtoField.uint32("c3l.next_hop", "Next hop"),
    goodput = ProtoField.uint64("c3l.goodput_bps", "Goodput of the link alone, bit/s"),
    used = ProtoField.uint64("c3l.used_bps", "Rate that it had, bit/s"),
    transmissions = ProtoField.float("c3l.transmissions", "Transmissions of a packet"),
    overloaded = ProtoField.bool("c3l.overloaded", "Overloaded", 8, nil, 0x01),
    lost = ProtoField.float("c3l.lost", "Part of its packets that were lost"),
    demand = ProtoField.uint64("c3l.demand_bps", "Rate that it requires, bit/s"),
    air = ProtoField.uint32("c3l.air_us", "Air that acknowledgements take, us a second"),
    heard = ProtoField.uint32("c3l.heard", "Node that it hears"),
    hellos = ProtoField.float("c3l.hellos", "Part of its HELLOs that arrive"),
    probes = ProtoField.float("c3l.probes", "Part of its probes that arrive"),
    share = ProtoField.uint64("c3l.share_bps", "Share of the link, bit/s"),
}
c3l.fields = fields

-- A rate of 4 bytes, in bytes/s; none where it is all ones.
local function rate(tree, field, range)
    if range:uint() ~= 0xffffffff then
        tree:add(field, range, UInt64(8 * range:uint() % 2 ^ 32, math.floor(8 * range:uint() / 2 ^ 32)))
    end
end

-- Entries of `length` bytes each from `at` on, as many as are there; returns where they end.
local function entries(part, bytes, at, count, length, name, show)
    for _ = 1, count do
        if bytes:len() < at + length then
            break
        end
        local entry = bytes(at, length)
        show(part:add(c3l, entry, name), entry)
        at = at + length
    end
    return at
end

local function stamp(part, bytes)
    part:add(fields.stamped, bytes(2, 1))
    part:add(fields.unstamped, bytes(3, 1))
    part:add(fields.flow, bytes(4, 4))
    rate(part, fields.allocation, bytes(8, 4))
    rate(part, fields.rate, bytes(12, 4))
    part:add(fields.sequence, bytes(16, 4))
end

local function feedback(part, bytes)
    part:add(fields.epoch, bytes(2, 2))
    part:add(fields.flow, bytes(4, 4))
    rate(part, fields.allocation, bytes(8, 4))
    rate(part, fields.received, bytes(12, 4))
    part:add(fields.sequence, bytes(16, 4))
end

local function hello(part, bytes)
    part:add(fields.controllers, bytes(1, 1))
    part:add(fields.count, bytes(2, 2))
    part:add(fields.node, bytes(4, 4))
    if bytes(1, 1):uint() > 0 then
        part:add(fields.controller, bytes(8, 4)) -- the first one
    end
end

local function report(part, bytes)
    part:add(fields.listed, bytes(1, 1))
    part:add(fields.part, bytes(2, 1))
    part:add(fields.parts, bytes(3, 1))
    part:add(fields.node, bytes(4, 4))
    part:add(fields.round, bytes(8, 2))
    part:add(fields.version, bytes(10, 2))
    part:add(fields.links, bytes(12, 1))
    part:add(fields.flows, bytes(13, 1))
    part:add(fields.neighbours, bytes(14, 1))
    part:add(fields.answers, bytes(15, 1))
    local at = entries(part, bytes, 16, bytes(12, 1):uint(), 15, "Link", function(entry, link)
        entry:add(fields.next_hop, link(0, 4))
        rate(entry, fields.goodput, link(4, 4))
        rate(entry, fields.used, link(8, 4))
        entry:add(fields.transmissions, link(12, 2), link(12, 2):uint() / 256)
        entry:add(fields.overloaded, link(14, 1))
        entry:add(fields.lost, link(14, 1), math.floor(link(14, 1):uint() / 2) / 127)
    end)
    at = entries(part, bytes, at, bytes(13, 1):uint(), 16, "Flow", function(entry, flow)
        entry:add(fields.flow, flow(0, 4))
        entry:add(fields.next_hop, flow(4, 4))
        rate(entry, fields.used, flow(8, 4))
        rate(entry, fields.demand, flow(12, 4))
    end)
    at = entries(part, bytes, at, bytes(15, 1):uint(), 12, "Acknowledgements of a flow", function(entry, answer)
        entry:add(fields.flow, answer(0, 4))
        entry:add(fields.next_hop, answer(4, 4))
        entry:add(fields.air, answer(8, 4))
    end)
    entries(part, bytes, at, bytes(14, 1):uint(), 6, "Neighbour", function(entry, heard)
        entry:add(fields.heard, heard(0, 4))
        entry:add(fields.hellos, heard(4, 1), heard(4, 1):uint() / 255)
        entry:add(fields.probes, heard(5, 1), heard(5, 1):uint() / 255)
    end)
end

local function allocation(part, bytes)
    part:add(fields.part, bytes(1, 1))
    part:add(fields.parts, bytes(2, 1))
    part:add(fields.links, bytes(3, 1))
    part:add(fields.controller, bytes(4, 4))
    part:add(fields.node, bytes(8, 4))
    part:add(fields.round, bytes(12, 2))
    part:add(fields.version, bytes(14, 2))
    part:add(fields.valid, bytes(16, 4))
    entries(part, bytes, 20, bytes(3, 1):uint(), 8, "Link", function(entry, link)
        entry:add(fields.next_hop, link(0, 4))
        rate(entry, fields.share, link(4, 4))
    end)
end

local function word(part, bytes)
    part:add(fields.controller, bytes(4, 4))
    part:add(fields.freshness, bytes(8, 4))
end

-- Length of what is shown, and who shows it.
local shapes = {
    [0x11] = { 8, hello }, [0x12] = { 8, hello }, [0x13] = { 16, report }, [0x14] = { 20, allocation },
    [0x15] = { 20, stamp }, [0x16] = { 20, feedback }, [0x17] = { 12, word },
}

-- Shows what begins here; returns its length, 0 if it is not C3L's.
local function show(buffer, tree)
    local shape = buffer:len() > 0 and shapes[buffer(0, 1):uint()]
    if not shape or buffer:len() < shape[1] then
        return 0
    end
    local part = tree:add(c3l, buffer(), "C3L, " .. types[buffer(0, 1):uint()])
    part:add(fields.type, buffer(0, 1))
    shape[2](part, buffer)
    return shape[1]
end

function c3l.dissector(buffer, packet, tree)
    if packet.match_uint == 11 and buffer:len() > 0 then
        show(buffer, tree) -- a message over UDP
        return
    end
    local length = show(buffer, tree)
    if length == 0 or buffer:len() < length + 8 then
        return
    end
    -- UDP has its own length, TCP has none: the value is only right for UDP.
    local udp = buffer(length + 4, 2):uint() == buffer:reported_len() - length
    Dissector.get(udp and "udp" or "tcp"):call(buffer(length):tvb(), packet, tree)
end

DissectorTable.get("ip.proto"):add(254, c3l)
DissectorTable.get("udp.port"):add(11, c3l)
