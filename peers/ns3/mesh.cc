// The peers' scenarios for ns-3.37: 802.11b nodes in a chain, a grid of 8 x 8, a row of four and three pairs, with UDP flows of a
// constant rate or TCP flows without end.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
//   ./mesh --scenario=chain --hops=5 --load=2000000 --seed=1
//   ./mesh --scenario=chain --transport=tcp --hops=5 --seed=1
//   ./mesh --scenario=grid64 --flows=../grid-64-flows.csv --seed=1 [--transport=tcp] [--traffic=0] [--count=1]
//   ./mesh --scenario=hidden --transport=tcp --seed=1       (also: exposed, three-pairs)
//
// Units: metres, seconds, bit/s, bytes, dBm. Prints one JSON line.

#include "radio.h"

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/traffic-control-module.h"

#include <cmath>
#include <deque>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <limits>
#include <map>
#include <sstream>

using namespace ns3;

namespace
{

struct Flow
{
    uint32_t from;
    uint32_t to;
};

// What a scenario sets where the command line says nothing.
struct Defaults
{
    uint32_t udpPayload;
    uint32_t tcpPayload;
    double load; // of each UDP flow
    uint32_t dataRate;
    uint32_t queue;
    double spacing;
    double receive;
    double sense;
    double duration;
    double warmup;
    double stagger; // between the starts of two flows
    double jitter;  // a start is late by up to so much, at random
};

const std::map<std::string, Defaults> kScenarios{
    {"chain", {1500, 1460, 2e6, 2, 50, 200, 250, 550, 100, 10, 0.05, 0}},
    {"grid64", {1460, 1460, 92e3, 11, 50, 200, 250, 550, 60, 0, 0.05, 0}},
    {"hidden", {512, 512, 2e6, 2, 66, 300, 367, 807, 110, 10, 0, 1}},
    {"exposed", {512, 512, 2e6, 2, 66, 300, 367, 807, 110, 10, 0, 1}},
    {"three-pairs", {512, 512, 2e6, 2, 66, 300, 367, 807, 110, 10, 0, 1}},
};

struct Options
{
    std::string scenario{"chain"};
    std::string transport{"udp"};
    std::string flows{"grid-64-flows.csv"};
    uint32_t hops{5};
    uint32_t side{8};
    uint32_t payload{0};  // 0, here and below: the scenario's
    double load{0};
    uint32_t dataRate{0}; // Mbit/s
    uint32_t rts{0};
    uint32_t queue{0};
    double maxDelay{0.5}; // how long ns-3's MAC queue keeps a packet
    double spacing{0};
    double apart{500}; // one pair from the next
    double receive{0};
    double sense{0};
    double duration{0};
    double warmup{-1}; // < 0: the scenario's
    bool sack{true};
    uint32_t seed{1};
    bool traffic{true};
    bool count{false};
};

// The neighbour of `to`'s side that each node sends to: shortest paths in hops, ties to the lowest node number.
std::vector<uint32_t>
NextHops(const NodeContainer& nodes, uint32_t to, double range)
{
    const uint32_t n = nodes.GetN();
    auto near = [&](uint32_t a, uint32_t b) {
        auto pa = nodes.Get(a)->GetObject<MobilityModel>();
        auto pb = nodes.Get(b)->GetObject<MobilityModel>();
        return a != b && pa->GetDistanceFrom(pb) <= range;
    };
    constexpr uint32_t kFar = std::numeric_limits<uint32_t>::max();
    std::vector<uint32_t> distance(n, kFar);
    std::vector<uint32_t> next(n, to);
    std::deque<uint32_t> open{to};
    distance[to] = 0;
    while (!open.empty())
    {
        uint32_t at = open.front();
        open.pop_front();
        for (uint32_t other = 0; other < n; ++other)
        {
            if (distance[other] == kFar && near(at, other))
            {
                distance[other] = distance[at] + 1;
                open.push_back(other);
            }
        }
    }
    for (uint32_t at = 0; at < n; ++at)
    {
        for (uint32_t other = n; other-- > 0;)
        {
            if (at != to && near(at, other) && distance[other] + 1 == distance[at])
            {
                next[at] = other;
            }
        }
    }
    return next;
}

void
InstallRoutes(const NodeContainer& nodes, const Ipv4InterfaceContainer& addresses, double range)
{
    Ipv4StaticRoutingHelper helper;
    for (uint32_t to = 0; to < nodes.GetN(); ++to)
    {
        const auto next = NextHops(nodes, to, range);
        for (uint32_t at = 0; at < nodes.GetN(); ++at)
        {
            if (at != to)
            {
                auto routing = helper.GetStaticRouting(nodes.Get(at)->GetObject<Ipv4>());
                routing->AddHostRouteTo(addresses.GetAddress(to), addresses.GetAddress(next[at]), 1);
            }
        }
    }
}

// Every node knows every address from the start (ns-3's own helper for this needs IPv6).
void
FillArp(const NetDeviceContainer& devices, const Ipv4InterfaceContainer& addresses)
{
    for (uint32_t at = 0; at < devices.GetN(); ++at)
    {
        auto cache = addresses.Get(at).first->GetObject<Ipv4L3Protocol>()->GetInterface(1)->GetArpCache();
        for (uint32_t other = 0; other < devices.GetN(); ++other)
        {
            auto entry = other == at ? nullptr : cache->Add(addresses.GetAddress(other));
            if (entry)
            {
                entry->SetMacAddress(devices.Get(other)->GetAddress());
                entry->MarkPermanent();
            }
        }
    }
}

std::vector<Flow>
ReadFlows(const std::string& path)
{
    std::ifstream file(path);
    if (!file)
    {
        std::cerr << "cannot read the flows from " << path << "\n";
        std::exit(2);
    }
    std::vector<Flow> flows;
    std::string line;
    while (std::getline(file, line))
    {
        uint32_t id;
        Flow flow;
        if (std::sscanf(line.c_str(), "%u,%u,%u", &id, &flow.from, &flow.to) == 3)
        {
            flows.push_back(flow);
        }
    }
    return flows;
}

struct Frames
{
    uint64_t rts{0};
    uint64_t cts{0};
    uint64_t data{0};
    uint64_t ack{0};
    uint64_t other{0};

    void Add(WifiConstPsduMap psdus, WifiTxVector, double)
    {
        for (const auto& [station, psdu] : psdus)
        {
            const auto& header = psdu->GetHeader(0);
            uint64_t& kind = header.IsRts()    ? rts
                             : header.IsCts()  ? cts
                             : header.IsAck()  ? ack
                             : header.IsData() ? data
                                               : other;
            ++kind;
        }
    }

    std::string Json() const
    {
        std::ostringstream out;
        out << "{\"rts\": " << rts << ", \"cts\": " << cts << ", \"data\": " << data << ", \"ack\": " << ack
            << ", \"other\": " << other << ", \"total\": " << rts + cts + data + ack + other << "}";
        return out.str();
    }
};

struct Layout
{
    std::vector<Vector> nodes;
    std::vector<Flow> flows;
};

Layout
LayOut(const Options& opt)
{
    Layout layout;
    auto row = [&](uint32_t n, double y) {
        for (uint32_t i = 0; i < n; ++i)
        {
            layout.nodes.emplace_back(opt.spacing * i, y, kAntennaHeight);
        }
    };
    if (opt.scenario == "chain")
    {
        row(opt.hops + 1, 0);
        layout.flows = {{0, opt.hops}};
    }
    else if (opt.scenario == "grid64")
    {
        for (uint32_t i = 0; i < opt.side; ++i)
        {
            row(opt.side, opt.spacing * i);
        }
        layout.flows = ReadFlows(opt.flows);
    }
    else if (opt.scenario == "three-pairs")
    {
        for (uint32_t pair = 0; pair < 3; ++pair)
        {
            row(2, opt.apart * pair);
            layout.flows.push_back({2 * pair, 2 * pair + 1});
        }
    }
    else
    {
        row(4, 0);
        layout.flows = opt.scenario == "hidden" ? std::vector<Flow>{{0, 1}, {3, 2}} : std::vector<Flow>{{1, 0}, {2, 3}};
    }
    return layout;
}

// NewReno with ten segments at first, time-outs from 1 s, every segment acknowledged, buffers of 128 KiB; timestamps are on.
void
SetTcp(const Options& opt)
{
    Config::SetDefault("ns3::TcpL4Protocol::SocketType", TypeIdValue(TypeId::LookupByName("ns3::TcpNewReno")));
    Config::SetDefault("ns3::TcpSocketBase::Sack", BooleanValue(opt.sack));
    Config::SetDefault("ns3::TcpSocketBase::MinRto", TimeValue(Seconds(1)));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(opt.payload));
    Config::SetDefault("ns3::TcpSocket::InitialCwnd", UintegerValue(10));
    Config::SetDefault("ns3::TcpSocket::DelAckCount", UintegerValue(1));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(128 * 1024));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(128 * 1024));
}

// The source of one flow: constant bit rate over UDP, or as much as TCP takes.
ApplicationContainer
InstallSource(const Options& opt, Ptr<Node> node, const Address& to)
{
    if (opt.transport == "tcp")
    {
        BulkSendHelper source("ns3::TcpSocketFactory", to);
        source.SetAttribute("SendSize", UintegerValue(opt.payload));
        return source.Install(node);
    }
    OnOffHelper source("ns3::UdpSocketFactory", to);
    source.SetConstantRate(DataRate(static_cast<uint64_t>(opt.load)), opt.payload);
    return source.Install(node);
}

} // namespace

int
main(int argc, char** argv)
{
    Options opt;
    CommandLine cmd(__FILE__);
    cmd.AddValue("scenario", "chain, grid64, hidden, exposed or three-pairs", opt.scenario);
    cmd.AddValue("transport", "udp or tcp", opt.transport);
    cmd.AddValue("flows", "the grid's flows as flow,src,dst", opt.flows);
    cmd.AddValue("hops", "hops of the chain", opt.hops);
    cmd.AddValue("payload", "payload of a packet, bytes", opt.payload);
    cmd.AddValue("load", "offered load of each UDP flow, bit/s", opt.load);
    cmd.AddValue("dataRate", "1, 2 or 11 Mbit/s", opt.dataRate);
    cmd.AddValue("rts", "RTS threshold, bytes", opt.rts);
    cmd.AddValue("queue", "packets that wait in a node", opt.queue);
    cmd.AddValue("maxDelay", "seconds after which the MAC queue drops a packet", opt.maxDelay);
    cmd.AddValue("spacing", "metres between neighbours", opt.spacing);
    cmd.AddValue("apart", "metres from one of the three pairs to the next", opt.apart);
    cmd.AddValue("receive", "reception range, metres", opt.receive);
    cmd.AddValue("sense", "carrier sense range, metres", opt.sense);
    cmd.AddValue("duration", "measured seconds", opt.duration);
    cmd.AddValue("warmup", "seconds before the measurement", opt.warmup);
    cmd.AddValue("sack", "0: TCP without selective acknowledgements", opt.sack);
    cmd.AddValue("seed", "run number", opt.seed);
    cmd.AddValue("traffic", "0: the same run without its flows", opt.traffic);
    cmd.AddValue("count", "1: count the frames on the air", opt.count);
    cmd.Parse(argc, argv);

    const auto found = kScenarios.find(opt.scenario);
    if (found == kScenarios.end() || (opt.transport != "udp" && opt.transport != "tcp"))
    {
        std::cerr << "there are the scenarios chain, grid64, hidden, exposed and three-pairs, with the transports udp and tcp\n";
        return 2;
    }
    const auto& defaults = found->second;
    const bool tcp = opt.transport == "tcp";
    auto settle = [](auto& value, auto fallback, auto unset) { value = value == unset ? fallback : value; };
    settle(opt.payload, tcp ? defaults.tcpPayload : defaults.udpPayload, 0u);
    settle(opt.load, defaults.load, 0.0);
    settle(opt.dataRate, defaults.dataRate, 0u);
    settle(opt.queue, defaults.queue, 0u);
    settle(opt.spacing, defaults.spacing, 0.0);
    settle(opt.receive, defaults.receive, 0.0);
    settle(opt.sense, defaults.sense, 0.0);
    settle(opt.duration, defaults.duration, 0.0);
    settle(opt.warmup, defaults.warmup, -1.0);
    const auto [positions, flows] = LayOut(opt);

    RngSeedManager::SetRun(opt.seed);
    Config::SetDefault("ns3::WifiMacQueue::MaxSize", QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, opt.queue)));
    Config::SetDefault("ns3::WifiMacQueue::MaxDelay", TimeValue(Seconds(opt.maxDelay)));
    SetTcp(opt);

    NodeContainer nodes;
    nodes.Create(positions.size());
    Place(nodes, positions);
    auto devices = InstallRadio(nodes, {opt.dataRate, opt.rts, opt.receive, opt.sense});

    InternetStackHelper internet;
    Ipv4StaticRoutingHelper routing;
    internet.SetRoutingHelper(routing);
    internet.SetIpv6StackInstall(false);
    internet.Install(nodes);
    Ipv4AddressHelper ipv4;
    ipv4.SetBase("10.0.0.0", "255.255.0.0");
    auto addresses = ipv4.Assign(devices);
    TrafficControlHelper().Uninstall(devices); // the MAC queue is the only queue
    InstallRoutes(nodes, addresses, opt.receive);
    FillArp(devices, addresses);

    const double begin = 1.0;
    const double end = begin + opt.warmup + opt.duration;
    const std::string factory = tcp ? "ns3::TcpSocketFactory" : "ns3::UdpSocketFactory";
    std::vector<Ptr<PacketSink>> sinks;
    std::vector<uint64_t> before(flows.size(), 0);
    for (uint32_t i = 0; opt.traffic && i < flows.size(); ++i)
    {
        const uint16_t port = 9000 + i;
        auto sending = InstallSource(opt, nodes.Get(flows[i].from), InetSocketAddress(addresses.GetAddress(flows[i].to), port));
        // Only where it is wanted: drawing would move every stream that comes after.
        const double late = defaults.jitter > 0 ? CreateObject<UniformRandomVariable>()->GetValue(0, defaults.jitter) : 0;
        sending.Start(Seconds(begin + defaults.stagger * i + late));
        sending.Stop(Seconds(end));
        PacketSinkHelper sink(factory, InetSocketAddress(Ipv4Address::GetAny(), port));
        sinks.push_back(DynamicCast<PacketSink>(sink.Install(nodes.Get(flows[i].to)).Get(0)));
    }
    Simulator::Schedule(Seconds(begin + opt.warmup), [&] {
        for (uint32_t i = 0; i < sinks.size(); ++i)
        {
            before[i] = sinks[i]->GetTotalRx();
        }
    });

    Frames frames;
    if (opt.count)
    {
        for (uint32_t i = 0; i < devices.GetN(); ++i)
        {
            auto phy = DynamicCast<WifiNetDevice>(devices.Get(i))->GetPhy();
            phy->TraceConnectWithoutContext("PhyTxPsduBegin", MakeCallback(&Frames::Add, &frames));
        }
    }

    Simulator::Stop(Seconds(end));
    Simulator::Run();

    uint64_t delivered = 0;
    std::ostringstream rows;
    rows << std::fixed << std::setprecision(1);
    for (uint32_t i = 0; i < sinks.size(); ++i)
    {
        const uint64_t bytes = sinks[i]->GetTotalRx() - before[i];
        delivered += bytes / opt.payload;
        rows << (i ? ", " : "") << "{\"src\": \"" << flows[i].from << "\", \"dst\": \"" << flows[i].to
             << "\", \"delivered_packets\": " << bytes / opt.payload
             << ", \"goodput_bps\": " << 8.0 * bytes / opt.duration << "}";
    }
    std::cout << "{\"peer\": \"ns-3.37\", \"scenario\": \"" << opt.scenario << (tcp ? "-tcp" : "") << "\", \"seed\": " << opt.seed
              << ", \"delivered_packets\": " << delivered << ", \"flows\": [" << rows.str()
              << "], \"frames\": " << (opt.count ? frames.Json() : "null")
              << ", \"events\": " << Simulator::GetEventCount() << "}" << std::endl;
    Simulator::Destroy();
    return 0;
}
