// OLSR and DSDV on a quiet grid of 802.11b nodes, for ns-3.37: what they send, when all routes exist, and how a flow goes on after a
// node of its path has vanished.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
//   ./routing --protocol=olsr --spacing=200 --pairs=../grid-64-flows.csv --seed=1 --header=1
//   ./routing --protocol=dsdv --spacing=200 --src=27 --dst=4 --fail=103 --seed=1 --header=1
//
// Prints one row of CSV, with --header=1 after its header. Without --fail: datagrams and bytes per node and second between --from and
// --to, as IP packets and as frames (36 bytes more); OLSR's HELLO and TC messages; when the nodes' tables had a next hop for every pair,
// and when every pair's next hops led to the destination (read every 0.5 s); hops at the end. With --fail: packets of 64 bytes every
// 0.1 s from 80 s on from --src to --dst; at --fail seconds the middle node of their path is moved away.

#include "radio.h"

#include "ns3/dsdv-module.h"
#include "ns3/internet-module.h"
#include "ns3/olsr-module.h"
#include "ns3/traffic-control-module.h"

#include <fstream>
#include <iostream>
#include <map>
#include <sstream>

using namespace ns3;

namespace
{

struct Options
{
    std::string protocol{"olsr"};
    std::string pairs;
    uint32_t side{8};
    double spacing{200};
    double receive{250};
    double sense{550};
    double from{60};
    double to{180};
    double fail{0}; // 0: no node vanishes
    double after{60};
    uint32_t src{27};
    uint32_t dst{4};
    double hello{2};
    double tc{5};
    double period{15};
    double settling{5};
    uint32_t hold{3};
    uint32_t seed{1};
    bool header{false};
};

using Path = std::vector<uint32_t>;
// The neighbour to which a node (first index) sends packets for another one; negative without a route.
using Tables = std::vector<std::vector<int64_t>>;

std::string
Text(const Ipv4Address& address)
{
    std::ostringstream text;
    text << address;
    return text.str();
}

class Grid
{
  public:
    explicit Grid(const Options& options)
        : opt(options)
    {
    }

    void Build();
    std::string Overhead();
    std::string Repair();

  private:
    Tables Read() const;
    Path Walk(const Tables& tables, uint32_t from, uint32_t to) const;
    void Poll();
    void SendData();
    void CountIp(Ptr<const Packet> packet, Ptr<Ipv4>, uint32_t);
    void CountFrame(WifiConstPsduMap psdus, WifiTxVector, double);
    bool Counts() const;

    const Options& opt;
    NodeContainer nodes;
    Ipv4InterfaceContainer addresses;
    std::map<std::string, uint32_t> byText;

    uint64_t packets{0};
    uint64_t ipBytes{0};
    uint64_t frames{0};
    uint64_t macBytes{0};
    uint64_t hellos{0};
    uint64_t ownTc{0};
    uint64_t forwardedTc{0};
    double allEntries{-1};
    double allPaths{-1};
    double lastBroken{-1};
    uint64_t brokenPaths{0};
    uint64_t polledPaths{0};

    Ptr<Socket> sender;
    std::vector<double> sent;
    std::vector<bool> arrived;
    std::vector<double> arrivals; // of packets sent after the failure
};

bool
Grid::Counts() const
{
    return Simulator::Now() >= Seconds(opt.from) && Simulator::Now() < Seconds(opt.to);
}

void
Grid::CountIp(Ptr<const Packet> packet, Ptr<Ipv4>, uint32_t)
{
    if (Counts())
    {
        ++packets;
        ipBytes += packet->GetSize();
    }
}

void
Grid::CountFrame(WifiConstPsduMap psdus, WifiTxVector, double)
{
    if (Counts())
    {
        for (const auto& [station, psdu] : psdus)
        {
            ++frames;
            macBytes += psdu->GetSize();
        }
    }
}

void
Grid::Build()
{
    nodes.Create(opt.side * opt.side);
    std::vector<Vector> positions;
    for (uint32_t i = 0; i < nodes.GetN(); ++i)
    {
        positions.emplace_back(opt.spacing * (i % opt.side), opt.spacing * (i / opt.side), kAntennaHeight);
    }
    Place(nodes, positions);
    auto devices = InstallRadio(nodes, {11, 65535, opt.receive, opt.sense});

    InternetStackHelper internet;
    internet.SetIpv6StackInstall(false);
    OlsrHelper olsr;
    olsr.Set("HelloInterval", TimeValue(Seconds(opt.hello)));
    olsr.Set("TcInterval", TimeValue(Seconds(opt.tc)));
    DsdvHelper dsdv;
    dsdv.Set("PeriodicUpdateInterval", TimeValue(Seconds(opt.period)));
    dsdv.Set("SettlingTime", TimeValue(Seconds(opt.settling)));
    dsdv.Set("Holdtimes", UintegerValue(opt.hold));
    if (opt.protocol == "olsr")
    {
        internet.SetRoutingHelper(olsr);
    }
    else
    {
        internet.SetRoutingHelper(dsdv);
    }
    internet.Install(nodes);
    Ipv4AddressHelper ipv4;
    ipv4.SetBase("10.0.0.0", "255.255.0.0");
    addresses = ipv4.Assign(devices);
    TrafficControlHelper().Uninstall(devices); // the MAC queue is the only queue

    for (uint32_t i = 0; i < nodes.GetN(); ++i)
    {
        byText[Text(addresses.GetAddress(i))] = i;
        auto ip = nodes.Get(i)->GetObject<Ipv4L3Protocol>();
        ip->TraceConnectWithoutContext("Tx", MakeCallback(&Grid::CountIp, this));
        auto phy = DynamicCast<WifiNetDevice>(devices.Get(i))->GetPhy();
        phy->TraceConnectWithoutContext("PhyTxPsduBegin", MakeCallback(&Grid::CountFrame, this));
        auto routing = DynamicCast<olsr::RoutingProtocol>(ip->GetRoutingProtocol());
        if (routing)
        {
            const auto own = addresses.GetAddress(i);
            routing->TraceConnectWithoutContext(
                "Tx",
                Callback<void, const olsr::PacketHeader&, const olsr::MessageList&>(
                    [this, own](const olsr::PacketHeader&, const olsr::MessageList& messages) {
                        for (const auto& message : messages)
                        {
                            const bool counts = Counts();
                            const bool isTc = message.GetMessageType() == olsr::MessageHeader::TC_MESSAGE;
                            const bool isOwn = message.GetOriginatorAddress() == own;
                            hellos += counts && message.GetMessageType() == olsr::MessageHeader::HELLO_MESSAGE;
                            ownTc += counts && isTc && isOwn;
                            forwardedTc += counts && isTc && !isOwn;
                        }
                    }));
        }
    }
}

// Reads all tables: OLSR's entries, and DSDV's as they are printed, since a query of ns-3's DSDV for a route changes its table.
Tables
Grid::Read() const
{
    Tables tables(nodes.GetN(), std::vector<int64_t>(nodes.GetN(), -1));
    for (uint32_t at = 0; at < nodes.GetN(); ++at)
    {
        auto routing = nodes.Get(at)->GetObject<Ipv4>()->GetRoutingProtocol();
        if (auto olsr = DynamicCast<olsr::RoutingProtocol>(routing))
        {
            for (const auto& entry : olsr->GetRoutingTableEntries())
            {
                tables[at][byText.at(Text(entry.destAddr))] = byText.at(Text(entry.nextAddr));
            }
            continue;
        }
        std::ostringstream text;
        routing->PrintRoutingTable(Create<OutputStreamWrapper>(&text), Time::S);
        std::istringstream lines(text.str());
        std::string line;
        while (std::getline(lines, line))
        {
            std::istringstream words(line);
            std::string destination;
            std::string gateway;
            if (words >> destination >> gateway && byText.count(destination) && byText.count(gateway))
            {
                tables[at][byText.at(destination)] = byText.at(gateway);
            }
        }
    }
    return tables;
}

// The nodes along the next hops; empty if they do not lead to the destination.
Path
Grid::Walk(const Tables& tables, uint32_t from, uint32_t to) const
{
    Path path{from};
    while (path.back() != to)
    {
        const auto next = tables[path.back()][to];
        if (next < 0 || path.size() > nodes.GetN())
        {
            return {};
        }
        path.push_back(next);
    }
    return path;
}

void
Grid::Poll()
{
    const auto tables = Read();
    bool entries = true;
    uint64_t broken = 0;
    for (uint32_t from = 0; from < nodes.GetN(); ++from)
    {
        for (uint32_t to = 0; to < nodes.GetN(); ++to)
        {
            if (from != to)
            {
                entries = entries && tables[from][to] >= 0;
                broken += Walk(tables, from, to).empty();
            }
        }
    }
    const double now = Simulator::Now().GetSeconds();
    allEntries = entries && allEntries < 0 ? now : allEntries;
    allPaths = broken == 0 && allPaths < 0 ? now : allPaths;
    lastBroken = broken > 0 ? now : lastBroken;
    if (now >= opt.from)
    {
        brokenPaths += broken;
        polledPaths += nodes.GetN() * (nodes.GetN() - 1);
    }
    Simulator::Schedule(Seconds(0.5), &Grid::Poll, this);
}

std::string
Grid::Overhead()
{
    Simulator::Schedule(Seconds(0.5), &Grid::Poll, this);
    Simulator::Stop(Seconds(opt.to));
    Simulator::Run();

    const double nodeSeconds = nodes.GetN() * (opt.to - opt.from);
    const double share = polledPaths ? static_cast<double>(brokenPaths) / polledPaths : 0;
    const auto tables = Read();
    uint64_t hops = 0;
    uint64_t paths = 0;
    for (uint32_t from = 0; from < nodes.GetN(); ++from)
    {
        for (uint32_t to = 0; to < nodes.GetN(); ++to)
        {
            const auto path = Walk(tables, from, to);
            paths += path.size() > 1;
            hops += path.size() > 1 ? path.size() - 1 : 0;
        }
    }
    std::ostringstream out;
    out << opt.protocol << "," << opt.spacing << "," << opt.seed << "," << packets / nodeSeconds << "," << ipBytes / nodeSeconds << ","
        << frames / nodeSeconds << "," << macBytes / nodeSeconds << "," << hellos / nodeSeconds << "," << ownTc / nodeSeconds << ","
        << forwardedTc / nodeSeconds << "," << allEntries << "," << allPaths << "," << lastBroken << "," << share << ","
        << (paths ? static_cast<double>(hops) / paths : 0) << ",";
    std::ifstream file(opt.pairs);
    std::string line;
    std::string gap;
    while (std::getline(file, line))
    {
        uint32_t id;
        uint32_t from;
        uint32_t to;
        if (std::sscanf(line.c_str(), "%u,%u,%u", &id, &from, &to) == 3)
        {
            const auto path = Walk(tables, from, to);
            out << gap << (path.empty() ? std::string("-") : std::to_string(path.size() - 1));
            gap = " ";
        }
    }
    return out.str();
}

void
Grid::SendData()
{
    const uint32_t number = sent.size();
    sent.push_back(Simulator::Now().GetSeconds());
    arrived.push_back(false);
    std::vector<uint8_t> bytes(64);
    std::memcpy(bytes.data(), &number, sizeof number);
    sender->Send(Create<Packet>(bytes.data(), bytes.size()));
    Simulator::Schedule(MilliSeconds(100), &Grid::SendData, this);
}

std::string
Grid::Repair()
{
    auto sink = Socket::CreateSocket(nodes.Get(opt.dst), UdpSocketFactory::GetTypeId());
    sink->Bind(InetSocketAddress(Ipv4Address::GetAny(), 9000));
    sink->SetRecvCallback([this](Ptr<Socket> socket) {
        while (auto packet = socket->Recv())
        {
            uint32_t number;
            packet->CopyData(reinterpret_cast<uint8_t*>(&number), sizeof number);
            arrived[number] = true;
            if (sent[number] >= opt.fail)
            {
                arrivals.push_back(Simulator::Now().GetSeconds());
            }
        }
    });
    sender = Socket::CreateSocket(nodes.Get(opt.src), UdpSocketFactory::GetTypeId());
    sender->Bind();
    sender->Connect(InetSocketAddress(addresses.GetAddress(opt.dst), 9000));
    Simulator::Schedule(Seconds(80), &Grid::SendData, this);

    Path path;
    uint32_t victim = 0;
    Simulator::Schedule(Seconds(opt.fail), [this, &path, &victim] {
        path = Walk(Read(), opt.src, opt.dst);
        if (path.size() > 2)
        {
            victim = path[path.size() / 2];
            nodes.Get(victim)->GetObject<MobilityModel>()->SetPosition(Vector(1e6, 1e6, kAntennaHeight));
        }
    });
    Simulator::Stop(Seconds(opt.fail + opt.after));
    Simulator::Run();

    uint64_t counts[2][2]{}; // [after the failure][delivered]
    for (size_t i = 0; i < sent.size(); ++i)
    {
        ++counts[sent[i] >= opt.fail][arrived[i]];
    }
    double lasting = arrivals.empty() ? -1 : arrivals.front();
    for (size_t i = 1; i < arrivals.size(); ++i)
    {
        lasting = arrivals[i] - arrivals[i - 1] > 1 ? arrivals[i] : lasting;
    }
    auto since = [this](double at) { return at < 0 ? -1 : at - opt.fail; };
    std::ostringstream out;
    out << opt.protocol << "," << opt.spacing << "," << opt.src << "," << opt.dst << "," << opt.seed << "," << opt.fail << "," << victim
        << "," << since(arrivals.empty() ? -1 : arrivals.front()) << "," << since(lasting) << "," << counts[1][1] << ","
        << counts[1][0] + counts[1][1] << "," << counts[0][1] << "," << counts[0][0] + counts[0][1] << ",";
    for (size_t i = 0; i < path.size(); ++i)
    {
        out << (i ? " " : "") << path[i];
    }
    return out.str();
}

} // namespace

int
main(int argc, char** argv)
{
    Options opt;
    CommandLine cmd(__FILE__);
    cmd.AddValue("protocol", "olsr or dsdv", opt.protocol);
    cmd.AddValue("pairs", "pairs whose hops are printed, as flow,src,dst", opt.pairs);
    cmd.AddValue("side", "nodes of a side of the grid", opt.side);
    cmd.AddValue("spacing", "metres between neighbours", opt.spacing);
    cmd.AddValue("receive", "reception range, metres", opt.receive);
    cmd.AddValue("sense", "carrier sense range, metres", opt.sense);
    cmd.AddValue("from", "begin of the counting, s", opt.from);
    cmd.AddValue("to", "end of the run, s", opt.to);
    cmd.AddValue("fail", "time at which a node vanishes, s; 0: none does", opt.fail);
    cmd.AddValue("after", "seconds after that time", opt.after);
    cmd.AddValue("src", "source of the data", opt.src);
    cmd.AddValue("dst", "its destination", opt.dst);
    cmd.AddValue("hello", "OLSR: seconds between HELLO messages", opt.hello);
    cmd.AddValue("tc", "OLSR: seconds between TC messages", opt.tc);
    cmd.AddValue("period", "DSDV: seconds between full dumps", opt.period);
    cmd.AddValue("settling", "DSDV: settling time, s", opt.settling);
    cmd.AddValue("hold", "DSDV: periods for which a route lives", opt.hold);
    cmd.AddValue("seed", "run number", opt.seed);
    cmd.AddValue("header", "1: the header of the table first", opt.header);
    cmd.Parse(argc, argv);
    if (opt.protocol != "olsr" && opt.protocol != "dsdv")
    {
        std::cerr << "--protocol is olsr or dsdv\n";
        return 2;
    }
    RngSeedManager::SetRun(opt.seed);
    Grid grid(opt);
    grid.Build();
    if (opt.header)
    {
        std::cout << (opt.fail > 0 ? "routing,spacing_m,src,dst,seed,fail_s,victim,first_delivery_after_s,lasting_after_s,"
                                     "delivered_sent_after,sent_after,delivered_sent_before,sent_before,path_at_fail\n"
                                   : "routing,spacing_m,seed,ip_packets_per_node_s,ip_bytes_per_node_s,mac_frames_per_node_s,"
                                     "mac_bytes_per_node_s,hello_per_node_s,tc_own_per_node_s,tc_forwarded_per_node_s,"
                                     "t_all_entries_s,t_all_paths_walk_s,last_poll_with_a_broken_path_s,"
                                     "mean_share_broken_paths_after_60s,mean_hops_all_pairs,hops_of_pairs\n");
    }
    std::cout << (opt.fail > 0 ? grid.Repair() : grid.Overhead()) << std::endl;
    Simulator::Destroy();
    return 0;
}
