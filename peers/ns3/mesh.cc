// The peers' scenarios for ns-3.37: a chain and an 8 x 8 grid of 802.11b nodes with UDP flows of a constant rate.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
//   ./mesh --scenario=chain --hops=5 --load=2000000 --seed=1
//   ./mesh --scenario=grid64 --flows=../grid-64-flows.csv --seed=1 [--traffic=0] [--count=1]
//
// Units: metres, seconds, bit/s, bytes, dBm. Prints one JSON line.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/propagation-module.h"
#include "ns3/traffic-control-module.h"
#include "ns3/wifi-module.h"
#include "ns3/yans-wifi-helper.h"

#include <cmath>
#include <deque>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <limits>
#include <sstream>

using namespace ns3;

namespace
{

struct Flow
{
    uint32_t from;
    uint32_t to;
};

struct Options
{
    std::string scenario{"chain"};
    std::string flows{"grid-64-flows.csv"};
    uint32_t hops{5};
    uint32_t side{8};
    uint32_t payload{0};  // 0: 1500 in the chain, 1460 in the grid
    double load{0};       // 0: 2 Mbit/s in the chain, 92 kbit/s in the grid
    uint32_t dataRate{0}; // Mbit/s; 0: 2 in the chain, 11 in the grid
    uint32_t rts{0};
    uint32_t queue{50};
    double maxDelay{0.5}; // how long ns-3's MAC queue keeps a packet
    double spacing{200};
    double receive{250};
    double sense{550};
    double duration{0}; // 0: 100 in the chain, 60 in the grid
    double warmup{-1};  // < 0: 10 in the chain, 0 in the grid
    uint32_t seed{1};
    bool traffic{true};
    bool count{false};
};

constexpr double kTxPowerDbm = 24.5;
constexpr double kAntennaHeight = 1.5;
constexpr double kMargin = 0.01; // dB, so that a node exactly at the range is inside it

// Two-ray ground beyond its crossover distance (86 m at 914 MHz and 1.5 m).
double
PowerAt(double metres)
{
    return kTxPowerDbm + 40 * std::log10(kAntennaHeight) - 40 * std::log10(metres);
}

NetDeviceContainer
InstallRadio(const NodeContainer& nodes, const Options& opt)
{
    YansWifiChannelHelper channel;
    channel.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel");
    channel.AddPropagationLoss("ns3::TwoRayGroundPropagationLossModel", "Frequency", DoubleValue(914e6));

    YansWifiPhyHelper phy;
    phy.SetChannel(channel.Create());
    phy.Set("TxPowerStart", DoubleValue(kTxPowerDbm));
    phy.Set("TxPowerEnd", DoubleValue(kTxPowerDbm));
    // The channel compares with a sensitivity per 20 MHz; a DSSS signal is 22 MHz wide.
    phy.Set("RxSensitivity", DoubleValue(PowerAt(opt.sense) - 10 * std::log10(22.0 / 20.0) - kMargin));
    phy.Set("CcaEdThreshold", DoubleValue(PowerAt(opt.sense) - kMargin));
    phy.Set("CcaSensitivity", DoubleValue(PowerAt(opt.sense) - kMargin));
    phy.SetPreambleDetectionModel("ns3::ThresholdPreambleDetectionModel",
                                  "Threshold", DoubleValue(4),
                                  "MinimumRssi", DoubleValue(PowerAt(opt.receive) - kMargin));

    std::string dataMode = "DsssRate" + std::to_string(opt.dataRate) + "Mbps";
    WifiHelper wifi;
    wifi.SetStandard(WIFI_STANDARD_80211b);
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager",
                                 "DataMode", StringValue(dataMode),
                                 "ControlMode", StringValue("DsssRate1Mbps"),
                                 "NonUnicastMode", StringValue("DsssRate1Mbps"),
                                 "RtsCtsThreshold", UintegerValue(opt.rts));
    WifiMacHelper mac;
    mac.SetType("ns3::AdhocWifiMac", "QosSupported", BooleanValue(false));
    auto devices = wifi.Install(phy, mac, nodes);
    // A basic rate of 1 Mbit/s, so that acknowledgments use it. ns-3 would make every rate of a newly met neighbour a basic
    // one and acknowledge at the rate of the data; neighbours that are known beforehand avoid that.
    const auto basic = WifiMode("DsssRate1Mbps");
    for (uint32_t i = 0; i < devices.GetN(); ++i)
    {
        auto manager = DynamicCast<WifiNetDevice>(devices.Get(i))->GetRemoteStationManager();
        manager->AddBasicMode(basic);
        for (uint32_t j = 0; j < devices.GetN(); ++j)
        {
            const auto neighbour = Mac48Address::ConvertFrom(devices.Get(j)->GetAddress());
            manager->AddSupportedMode(neighbour, basic);
            manager->AddSupportedMode(neighbour, WifiMode(dataMode));
            manager->RecordDisassociated(neighbour);
        }
    }
    return devices;
}

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

void
Place(const NodeContainer& nodes, uint32_t columns, double spacing)
{
    auto positions = CreateObject<ListPositionAllocator>();
    for (uint32_t i = 0; i < nodes.GetN(); ++i)
    {
        positions->Add(Vector(spacing * (i % columns), spacing * (i / columns), kAntennaHeight));
    }
    MobilityHelper mobility;
    mobility.SetPositionAllocator(positions);
    mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel");
    mobility.Install(nodes);
}

} // namespace

int
main(int argc, char** argv)
{
    Options opt;
    CommandLine cmd(__FILE__);
    cmd.AddValue("scenario", "chain or grid64", opt.scenario);
    cmd.AddValue("flows", "the grid's flows as flow,src,dst", opt.flows);
    cmd.AddValue("hops", "hops of the chain", opt.hops);
    cmd.AddValue("payload", "UDP payload, bytes", opt.payload);
    cmd.AddValue("load", "offered load of each flow, bit/s", opt.load);
    cmd.AddValue("dataRate", "1, 2 or 11 Mbit/s", opt.dataRate);
    cmd.AddValue("rts", "RTS threshold, bytes", opt.rts);
    cmd.AddValue("queue", "packets that wait in a node", opt.queue);
    cmd.AddValue("maxDelay", "seconds after which the MAC queue drops a packet", opt.maxDelay);
    cmd.AddValue("spacing", "metres between neighbours", opt.spacing);
    cmd.AddValue("receive", "reception range, metres", opt.receive);
    cmd.AddValue("sense", "carrier sense range, metres", opt.sense);
    cmd.AddValue("duration", "measured seconds", opt.duration);
    cmd.AddValue("warmup", "seconds before the measurement", opt.warmup);
    cmd.AddValue("seed", "run number", opt.seed);
    cmd.AddValue("traffic", "0: the same run without its flows", opt.traffic);
    cmd.AddValue("count", "1: count the frames on the air", opt.count);
    cmd.Parse(argc, argv);

    const bool chain = opt.scenario == "chain";
    if (!chain && opt.scenario != "grid64")
    {
        std::cerr << "no scenario " << opt.scenario << "; there are chain and grid64\n";
        return 2;
    }
    auto defaulted = [](auto value, auto unset, auto fallback) { return value == unset ? fallback : value; };
    opt.payload = defaulted(opt.payload, 0u, chain ? 1500u : 1460u);
    opt.load = defaulted(opt.load, 0.0, chain ? 2e6 : 92e3);
    opt.dataRate = defaulted(opt.dataRate, 0u, chain ? 2u : 11u);
    opt.duration = defaulted(opt.duration, 0.0, chain ? 100.0 : 60.0);
    opt.warmup = defaulted(opt.warmup, -1.0, chain ? 10.0 : 0.0);
    const auto flows = chain ? std::vector<Flow>{{0, opt.hops}} : ReadFlows(opt.flows);

    RngSeedManager::SetRun(opt.seed);
    Config::SetDefault("ns3::WifiMacQueue::MaxSize", QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, opt.queue)));
    Config::SetDefault("ns3::WifiMacQueue::MaxDelay", TimeValue(Seconds(opt.maxDelay)));

    NodeContainer nodes;
    nodes.Create(chain ? opt.hops + 1 : opt.side * opt.side);
    Place(nodes, chain ? nodes.GetN() : opt.side, opt.spacing);
    auto devices = InstallRadio(nodes, opt);

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
    std::vector<Ptr<PacketSink>> sinks;
    std::vector<uint64_t> before(flows.size(), 0);
    for (uint32_t i = 0; opt.traffic && i < flows.size(); ++i)
    {
        const uint16_t port = 9000 + i;
        OnOffHelper source("ns3::UdpSocketFactory", InetSocketAddress(addresses.GetAddress(flows[i].to), port));
        source.SetConstantRate(DataRate(static_cast<uint64_t>(opt.load)), opt.payload);
        auto sending = source.Install(nodes.Get(flows[i].from));
        sending.Start(Seconds(begin + 0.05 * i));
        sending.Stop(Seconds(end));
        PacketSinkHelper sink("ns3::UdpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
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
    std::cout << "{\"peer\": \"ns-3.37\", \"scenario\": \"" << opt.scenario << "\", \"seed\": " << opt.seed
              << ", \"delivered_packets\": " << delivered << ", \"flows\": [" << rows.str()
              << "], \"frames\": " << (opt.count ? frames.Json() : "null")
              << ", \"events\": " << Simulator::GetEventCount() << "}" << std::endl;
    Simulator::Destroy();
    return 0;
}
