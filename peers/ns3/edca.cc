// Saturated access categories of 802.11e in one cell, for ns-3.37: QoS stations in ad hoc mode send to one receiver over UDP.
// SPDX-License-Identifier: MIT OR Apache-2.0
//
//   ./edca --standard=a --be=2 --vi=2 --seed=1                     (two AC_BE stations beside two AC_VI stations)
//   ./edca --standard=b --be=4 --all4=1 --txop=zero --header=1     (four AC_BE stations beside one with all four queues full)
//
// Every station receives every other with the same power, so that a collision destroys all its frames. No beacons, RTS, A-MPDU,
// A-MSDU or block ACK. 802.11a: data at 24, ACK at 6 Mbit/s; 802.11b: data at 11, ACK at 1 Mbit/s, long preambles.
//
// Prints one row of CSV, with --header=1 after its header. mbps_*: UDP payload received in Mbit/s, by category, of all stations;
// all4_mbps_*: of the stations with four queues; other_mbps_be: of the stations with AC_BE alone. tx_*: data frames sent, by
// category; no_ack: those without an ACK, and the internal collisions; no_ack_share: no_ack over the sum of tx_*.

#include "ns3/core-module.h"
#include "ns3/internet-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/propagation-module.h"
#include "ns3/traffic-control-module.h"
#include "ns3/wifi-module.h"
#include "ns3/yans-wifi-helper.h"

#include <array>
#include <cmath>
#include <iostream>
#include <map>
#include <sstream>

using namespace ns3;

namespace
{

constexpr uint16_t kPort = 9000; // of AC_BK; the others follow
constexpr double kReceivedDbm = -50;

struct Category
{
    const char* name;
    AcIndex index;
    uint8_t tos; // of IP packets that ns-3 maps to the category
};

const std::array<Category, 4> kCategories{{
    {"bk", AC_BK, 0x20},
    {"be", AC_BE, 0x00},
    {"vi", AC_VI, 0xa0},
    {"vo", AC_VO, 0xc0},
}};

struct Options
{
    std::string standard{"a"};
    std::string txop{"default"};
    std::array<uint32_t, 4> stations{}; // with one category each
    uint32_t all4{0};
    uint32_t payload{1000};
    uint32_t queue{100};
    uint32_t retries{7};
    double lifetime{10};
    double warmup{2};
    double duration{10};
    uint32_t seed{1};
    bool header{false};
};

// What one station has in its queues, and which of its bytes have arrived.
struct Station
{
    std::array<bool, 4> active{};
    std::array<uint64_t, 4> received{};
    std::array<Ptr<Socket>, 4> sockets;
    Ptr<WifiMac> mac;
};

struct Counts
{
    std::array<uint64_t, 4> data{};
    uint64_t cfEnd{0};
    uint64_t failed{0};

    void Sent(WifiConstPsduMap psdus, WifiTxVector, double)
    {
        for (const auto& [station, psdu] : psdus)
        {
            const auto& header = psdu->GetHeader(0);
            cfEnd += header.IsCfEnd();
            if (header.IsQosData())
            {
                const auto category = QosUtilsMapTidToAc(header.GetQosTid());
                for (size_t at = 0; at < kCategories.size(); ++at)
                {
                    data[at] += kCategories[at].index == category;
                }
            }
        }
    }

    void Failed(Mac48Address)
    {
        ++failed;
    }
};

class Cell
{
  public:
    explicit Cell(const Options& options)
        : opt(options)
    {
    }

    void Build();
    std::string Run();

  private:
    void Radio();
    void Network();
    void Saturate();
    void Receive(size_t category, Ptr<Socket> socket);
    std::string Parameters() const;
    std::string Row() const;

    const Options& opt;
    NodeContainer nodes; // the receiver is the last
    NetDeviceContainer devices;
    Ipv4InterfaceContainer addresses;
    std::vector<Station> stations;
    std::map<Ipv4Address, size_t> byAddress;
    std::vector<Ptr<Socket>> sinks;
    Counts counts;
    bool measuring{false};
};

void
Cell::Build()
{
    for (size_t category = 0; category < kCategories.size(); ++category)
    {
        for (uint32_t i = 0; i < opt.stations[category]; ++i)
        {
            stations.emplace_back().active[category] = true;
        }
    }
    for (uint32_t i = 0; i < opt.all4; ++i)
    {
        stations.emplace_back().active.fill(true);
    }
    nodes.Create(stations.size() + 1);

    auto positions = CreateObject<ListPositionAllocator>();
    for (size_t i = 0; i < stations.size(); ++i)
    {
        const double angle = 2 * M_PI * i / stations.size();
        positions->Add(Vector(std::cos(angle), std::sin(angle), 0));
    }
    positions->Add(Vector(0, 0, 0));
    MobilityHelper mobility;
    mobility.SetPositionAllocator(positions);
    mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel");
    mobility.Install(nodes);

    Radio();
    Network();
}

void
Cell::Radio()
{
    YansWifiChannelHelper channel;
    channel.SetPropagationDelay("ns3::ConstantSpeedPropagationDelayModel");
    channel.AddPropagationLoss("ns3::FixedRssLossModel", "Rss", DoubleValue(kReceivedDbm));
    YansWifiPhyHelper phy;
    phy.SetChannel(channel.Create());

    const bool dsss = opt.standard == "b";
    const std::string data = dsss ? "DsssRate11Mbps" : "OfdmRate24Mbps";
    const std::string control = dsss ? "DsssRate1Mbps" : "OfdmRate6Mbps";
    WifiHelper wifi;
    wifi.SetStandard(dsss ? WIFI_STANDARD_80211b : WIFI_STANDARD_80211a);
    wifi.SetRemoteStationManager("ns3::ConstantRateWifiManager",
                                 "DataMode", StringValue(data),
                                 "ControlMode", StringValue(control),
                                 "NonUnicastMode", StringValue(control),
                                 "MaxSsrc", UintegerValue(opt.retries),
                                 "MaxSlrc", UintegerValue(opt.retries),
                                 "RtsCtsThreshold", UintegerValue(65535));
    WifiMacHelper mac;
    mac.SetType("ns3::AdhocWifiMac", "QosSupported", BooleanValue(true));
    devices = wifi.Install(phy, mac, nodes);

    // Stations that know each other and one basic rate beforehand acknowledge at this rate, and need no beacons.
    const WifiMode basic(control);
    for (uint32_t i = 0; i < devices.GetN(); ++i)
    {
        auto device = DynamicCast<WifiNetDevice>(devices.Get(i));
        auto manager = device->GetRemoteStationManager();
        manager->AddBasicMode(basic);
        for (uint32_t j = 0; j < devices.GetN(); ++j)
        {
            const auto neighbour = Mac48Address::ConvertFrom(devices.Get(j)->GetAddress());
            manager->AddSupportedMode(neighbour, basic);
            manager->AddSupportedMode(neighbour, WifiMode(data));
            manager->SetQosSupport(neighbour, true);
            manager->RecordDisassociated(neighbour);
        }
        for (const auto& category : kCategories)
        {
            auto txop = device->GetMac()->GetQosTxop(category.index);
            if (opt.txop == "zero")
            {
                txop->SetTxopLimit(Seconds(0), 0);
            }
        }
        if (i < stations.size())
        {
            stations[i].mac = device->GetMac();
            device->GetPhy()->TraceConnectWithoutContext("PhyTxPsduBegin", MakeCallback(&Counts::Sent, &counts));
            manager->TraceConnectWithoutContext("MacTxDataFailed", MakeCallback(&Counts::Failed, &counts));
        }
    }
}

void
Cell::Network()
{
    InternetStackHelper internet;
    internet.SetIpv6StackInstall(false);
    internet.Install(nodes);
    Ipv4AddressHelper ipv4;
    ipv4.SetBase("10.0.0.0", "255.255.0.0");
    addresses = ipv4.Assign(devices);
    TrafficControlHelper().Uninstall(devices); // the MAC queues are the only queues
    const auto receiver = stations.size();
    for (size_t i = 0; i < stations.size(); ++i)
    {
        byAddress[addresses.GetAddress(i)] = i;
        auto cache = addresses.Get(i).first->GetObject<Ipv4L3Protocol>()->GetInterface(1)->GetArpCache();
        auto entry = cache->Add(addresses.GetAddress(receiver));
        entry->SetMacAddress(devices.Get(receiver)->GetAddress());
        entry->MarkPermanent();
    }
    for (size_t category = 0; category < kCategories.size(); ++category)
    {
        const uint16_t port = kPort + category;
        auto sink = Socket::CreateSocket(nodes.Get(receiver), UdpSocketFactory::GetTypeId());
        sink->Bind(InetSocketAddress(Ipv4Address::GetAny(), port));
        sink->SetRecvCallback([this, category](Ptr<Socket> socket) { Receive(category, socket); });
        sinks.push_back(sink);
        for (size_t i = 0; i < stations.size(); ++i)
        {
            if (stations[i].active[category])
            {
                auto socket = Socket::CreateSocket(nodes.Get(i), UdpSocketFactory::GetTypeId());
                socket->Bind();
                socket->Connect(InetSocketAddress(addresses.GetAddress(receiver), port));
                socket->SetIpTos(kCategories[category].tos); // Connect has set it to 0
                stations[i].sockets[category] = socket;
            }
        }
    }
}

void
Cell::Receive(size_t category, Ptr<Socket> socket)
{
    Address from;
    while (auto packet = socket->RecvFrom(from))
    {
        if (measuring)
        {
            const auto sender = byAddress.at(InetSocketAddress::ConvertFrom(from).GetIpv4());
            stations[sender].received[category] += packet->GetSize();
        }
    }
}

// Fills every active queue, and again before the fastest one can empty itself.
void
Cell::Saturate()
{
    for (auto& station : stations)
    {
        for (size_t category = 0; category < kCategories.size(); ++category)
        {
            if (station.active[category])
            {
                const auto waiting = station.mac->GetTxopQueue(kCategories[category].index)->GetNPackets();
                for (uint32_t i = waiting; i < opt.queue; ++i)
                {
                    station.sockets[category]->Send(Create<Packet>(opt.payload));
                }
            }
        }
    }
    Simulator::Schedule(MilliSeconds(10), &Cell::Saturate, this);
}

std::string
Cell::Parameters() const
{
    std::ostringstream out;
    auto mac = stations.front().mac;
    for (const auto& category : kCategories)
    {
        auto txop = mac->GetQosTxop(category.index);
        out << category.name << ":" << +txop->GetAifsn(0) << "/" << txop->GetMinCw(0) << "/" << txop->GetMaxCw(0) << "/"
            << txop->GetTxopLimit(0).GetMicroSeconds() << " ";
    }
    auto phy = mac->GetWifiPhy();
    out << "slot" << phy->GetSlot().GetMicroSeconds() << " sifs" << phy->GetSifs().GetMicroSeconds();
    return out.str();
}

// The name of the configuration, from its stations.
std::string
Name(const Options& opt)
{
    std::string name;
    uint32_t active = 0;
    for (size_t category = 0; category < kCategories.size(); ++category)
    {
        if (opt.stations[category] > 0)
        {
            name += (active++ ? "_" : "") + std::string(kCategories[category].name);
        }
    }
    return opt.all4 ? "internal" : active == 1 ? "alone_" + name : active == 4 ? "four" : name;
}

std::string
Cell::Row() const
{
    std::array<uint64_t, 4> all{};
    std::array<uint64_t, 4> internal{};
    for (const auto& station : stations)
    {
        const bool four = station.active[0] && station.active[1];
        for (size_t category = 0; category < kCategories.size(); ++category)
        {
            all[category] += station.received[category];
            internal[category] += four ? station.received[category] : 0;
        }
    }
    auto mbps = [this](uint64_t bytes) { return bytes * 8 / opt.duration / 1e6; };
    std::ostringstream out;
    out << opt.standard << "," << Name(opt) << "," << opt.txop;
    for (auto n : opt.stations)
    {
        out << "," << n;
    }
    out << "," << opt.all4 << "," << opt.seed << "," << opt.duration << "," << Parameters();
    uint64_t total = 0;
    for (auto bytes : all)
    {
        out << "," << mbps(bytes);
        total += bytes;
    }
    out << "," << mbps(total);
    for (auto bytes : internal)
    {
        out << "," << mbps(bytes);
    }
    out << "," << (opt.all4 ? mbps(all[1] - internal[1]) : 0);
    uint64_t sent = 0;
    for (auto frames : counts.data)
    {
        out << "," << frames;
        sent += frames;
    }
    const double share = sent ? static_cast<double>(counts.failed) / sent : 0;
    out << "," << counts.cfEnd << "," << counts.failed << "," << share;
    return out.str();
}

std::string
Cell::Run()
{
    Simulator::Schedule(MilliSeconds(1), &Cell::Saturate, this);
    Simulator::Schedule(Seconds(opt.warmup), [this] {
        measuring = true;
        counts = Counts{};
    });
    Simulator::Stop(Seconds(opt.warmup + opt.duration));
    Simulator::Run();
    return Row();
}

} // namespace

int
main(int argc, char** argv)
{
    Options opt;
    CommandLine cmd(__FILE__);
    cmd.AddValue("standard", "a or b", opt.standard);
    cmd.AddValue("txop", "default: the standard's TXOP limits; zero: no limit, one frame each", opt.txop);
    cmd.AddValue("bk", "stations with AC_BK alone", opt.stations[0]);
    cmd.AddValue("be", "stations with AC_BE alone", opt.stations[1]);
    cmd.AddValue("vi", "stations with AC_VI alone", opt.stations[2]);
    cmd.AddValue("vo", "stations with AC_VO alone", opt.stations[3]);
    cmd.AddValue("all4", "stations with all four queues full", opt.all4);
    cmd.AddValue("payload", "UDP payload, bytes", opt.payload);
    cmd.AddValue("queue", "packets in a full queue", opt.queue);
    cmd.AddValue("retries", "retry limit", opt.retries);
    cmd.AddValue("lifetime", "seconds after which a MAC queue drops a packet", opt.lifetime);
    cmd.AddValue("warmup", "seconds before the measurement", opt.warmup);
    cmd.AddValue("duration", "measured seconds", opt.duration);
    cmd.AddValue("seed", "run number", opt.seed);
    cmd.AddValue("header", "1: the header of the table first", opt.header);
    cmd.Parse(argc, argv);

    const bool known = (opt.standard == "a" || opt.standard == "b") && (opt.txop == "default" || opt.txop == "zero");
    if (!known || opt.stations[0] + opt.stations[1] + opt.stations[2] + opt.stations[3] + opt.all4 == 0)
    {
        std::cerr << "--standard is a or b, --txop is default or zero, and at least one of --bk, --be, --vi, --vo and --all4 is above 0\n";
        return 2;
    }
    RngSeedManager::SetRun(opt.seed);
    Config::SetDefault("ns3::WifiMacQueue::MaxSize", QueueSizeValue(QueueSize(QueueSizeUnit::PACKETS, opt.queue)));
    Config::SetDefault("ns3::WifiMacQueue::MaxDelay", TimeValue(Seconds(opt.lifetime)));

    Cell cell(opt);
    cell.Build();
    if (opt.header)
    {
        std::cout << "standard,case,txop,n_bk,n_be,n_vi,n_vo,n_all4,seed,measured_s,aifsn_cwmin_cwmax_txopus,mbps_bk,mbps_be,mbps_vi,"
                     "mbps_vo,mbps_total,all4_mbps_bk,all4_mbps_be,all4_mbps_vi,all4_mbps_vo,other_mbps_be,tx_bk,tx_be,tx_vi,tx_vo,"
                     "cf_end,no_ack,no_ack_share\n";
    }
    std::cout << cell.Run() << std::endl;
    Simulator::Destroy();
    return 0;
}
