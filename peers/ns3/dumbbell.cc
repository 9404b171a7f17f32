// The peers' dumbbell for ns-3.37: long TCP flows over 10 Mbit/s and 40 ms under four queues.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
//   ./dumbbell --law=newreno|cubic --flows=4 --queue=droptail|red|codel|fq-codel --seed=1 [--device=0]
//
// Edges of 1 Gbit/s and 1 ms, MSS 1448 (1502 bytes on the wire), windows of 4 MB; starts U(0, 0.5 s); 30 s of which the first 10
// are left out. The wait is the mean sojourn in the queue disc. Below it lies a device, which keeps one packet beside the one
// that it sends; with --device=0 it keeps none, so that all that wait do so in the queue disc. Prints one JSON line.

#include "ns3/applications-module.h"
#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/network-module.h"
#include "ns3/point-to-point-module.h"
#include "ns3/traffic-control-module.h"

#include <iomanip>
#include <iostream>

using namespace ns3;

namespace
{

struct Options
{
    std::string law{"newreno"};
    std::string queue{"droptail"};
    uint32_t flows{4};
    uint32_t device{1};
    uint32_t window{4000000};
    uint32_t seed{1};
    double duration{30};
    double warmup{10};
    bool hystart{true};
};

constexpr uint32_t kMss = 1448;

double g_waited = 0;
uint64_t g_left = 0;
double g_from = 0;
Ptr<NetDeviceQueue> g_below;

void
Sojourn(Time wait)
{
    if (Simulator::Now().GetSeconds() >= g_from)
    {
        g_waited += wait.GetSeconds();
        ++g_left;
    }
}

// A device that keeps no packet: the queue disc hands it nothing while it sends.
void
Begins(Ptr<const Packet>)
{
    g_below->Stop();
}

void
Wakes()
{
    g_below->Wake();
}

void
Ends(Ptr<const Packet>)
{
    Simulator::ScheduleNow(&Wakes);
}

TrafficControlHelper
Discipline(const Options& opt)
{
    TrafficControlHelper tc;
    if (opt.queue == "droptail")
    {
        tc.SetRootQueueDisc("ns3::FifoQueueDisc", "MaxSize", StringValue("100p"));
    }
    else if (opt.queue == "red")
    {
        tc.SetRootQueueDisc("ns3::RedQueueDisc",
                            "MaxSize", StringValue("100p"),
                            "MinTh", DoubleValue(15),
                            "MaxTh", DoubleValue(45),
                            "Gentle", BooleanValue(true),
                            "LInterm", DoubleValue(50),
                            "QW", DoubleValue(0.002),
                            "MeanPktSize", UintegerValue(1500),
                            "LinkBandwidth", StringValue("10Mbps"),
                            "LinkDelay", StringValue("18ms"));
    }
    else if (opt.queue == "codel")
    {
        tc.SetRootQueueDisc("ns3::CoDelQueueDisc");
    }
    else if (opt.queue == "fq-codel")
    {
        tc.SetRootQueueDisc("ns3::FqCoDelQueueDisc");
    }
    else
    {
        NS_FATAL_ERROR("no queue " << opt.queue);
    }
    return tc;
}

} // namespace

int
main(int argc, char* argv[])
{
    Options opt;
    CommandLine cmd(__FILE__);
    cmd.AddValue("law", "newreno or cubic", opt.law);
    cmd.AddValue("queue", "droptail, red, codel or fq-codel", opt.queue);
    cmd.AddValue("flows", "number of flows", opt.flows);
    cmd.AddValue("device", "packets that wait in the device: 0 or 1", opt.device);
    cmd.AddValue("window", "buffers at both ends, bytes", opt.window);
    cmd.AddValue("seed", "seed", opt.seed);
    cmd.AddValue("duration", "seconds", opt.duration);
    cmd.AddValue("warmup", "seconds left out", opt.warmup);
    cmd.AddValue("hystart", "whether CUBIC has HyStart", opt.hystart);
    cmd.Parse(argc, argv);

    RngSeedManager::SetSeed(opt.seed);
    g_from = opt.warmup;
    Config::SetDefault("ns3::TcpL4Protocol::SocketType",
                       StringValue(opt.law == "cubic" ? "ns3::TcpCubic" : "ns3::TcpNewReno"));
    Config::SetDefault("ns3::TcpCubic::HyStart", BooleanValue(opt.hystart));
    Config::SetDefault("ns3::TcpSocket::SegmentSize", UintegerValue(kMss));
    Config::SetDefault("ns3::TcpSocket::SndBufSize", UintegerValue(opt.window));
    Config::SetDefault("ns3::TcpSocket::RcvBufSize", UintegerValue(opt.window));

    NodeContainer middle;
    NodeContainer senders;
    NodeContainer receivers;
    middle.Create(2);
    senders.Create(opt.flows);
    receivers.Create(opt.flows);
    InternetStackHelper stack;
    stack.Install(middle);
    stack.Install(senders);
    stack.Install(receivers);

    PointToPointHelper slow;
    slow.SetDeviceAttribute("DataRate", StringValue("10Mbps"));
    slow.SetChannelAttribute("Delay", StringValue("18ms"));
    slow.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("1p"));
    PointToPointHelper edge;
    edge.SetDeviceAttribute("DataRate", StringValue("1Gbps"));
    edge.SetChannelAttribute("Delay", StringValue("1ms"));
    edge.SetQueue("ns3::DropTailQueue", "MaxSize", StringValue("1000p"));

    auto bottleneck = slow.Install(middle.Get(0), middle.Get(1));
    auto disc = Discipline(opt).Install(bottleneck.Get(0)).Get(0);
    disc->TraceConnectWithoutContext("SojournTime", MakeCallback(&Sojourn));
    if (opt.device == 0)
    {
        auto device = bottleneck.Get(0);
        g_below = device->GetObject<NetDeviceQueueInterface>()->GetTxQueue(0);
        device->TraceConnectWithoutContext("PhyTxBegin", MakeCallback(&Begins));
        device->TraceConnectWithoutContext("PhyTxEnd", MakeCallback(&Ends));
    }

    Ipv4AddressHelper address;
    address.SetBase("10.0.0.0", "255.255.255.0");
    address.Assign(bottleneck);
    auto start = CreateObject<UniformRandomVariable>();
    std::vector<Ptr<PacketSink>> sinks;
    for (uint32_t i = 0; i < opt.flows; ++i)
    {
        auto left = edge.Install(senders.Get(i), middle.Get(0));
        auto right = edge.Install(middle.Get(1), receivers.Get(i));
        address.NewNetwork();
        address.Assign(left);
        address.NewNetwork();
        auto there = address.Assign(right);
        const uint16_t port = 5000;
        PacketSinkHelper sink("ns3::TcpSocketFactory", InetSocketAddress(Ipv4Address::GetAny(), port));
        sinks.push_back(DynamicCast<PacketSink>(sink.Install(receivers.Get(i)).Get(0)));
        BulkSendHelper bulk("ns3::TcpSocketFactory", InetSocketAddress(there.GetAddress(1), port));
        bulk.SetAttribute("SendSize", UintegerValue(kMss));
        bulk.Install(senders.Get(i)).Start(Seconds(start->GetValue(0, 0.5)));
    }
    Ipv4GlobalRoutingHelper::PopulateRoutingTables();

    std::vector<uint64_t> before(opt.flows);
    Simulator::Schedule(Seconds(opt.warmup), [&] {
        for (uint32_t i = 0; i < opt.flows; ++i)
        {
            before[i] = sinks[i]->GetTotalRx();
        }
    });
    Simulator::Stop(Seconds(opt.duration));
    Simulator::Run();

    double sum = 0;
    double squares = 0;
    for (uint32_t i = 0; i < opt.flows; ++i)
    {
        const double mbps = (sinks[i]->GetTotalRx() - before[i]) * 8 / (opt.duration - opt.warmup) / 1e6;
        sum += mbps;
        squares += mbps * mbps;
    }
    std::cout << std::fixed << std::setprecision(4) << "{\"peer\": \"ns-3.37\", \"scenario\": \"dumbbell\", \"law\": \""
              << opt.law << "\", \"queue\": \"" << opt.queue << "\", \"flows\": " << opt.flows
              << ", \"device\": " << opt.device << ", \"seed\": " << opt.seed << ", \"goodput_mbps\": " << sum
              << ", \"wait_ms\": " << (g_left ? 1e3 * g_waited / g_left : 0)
              << ", \"jain\": " << sum * sum / (opt.flows * squares) << "}" << std::endl;
    Simulator::Destroy();
    return 0;
}
