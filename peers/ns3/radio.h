// What the ns-3 programs of radio networks share: two-ray ground with ranges, 802.11b, positions.
// SPDX-License-Identifier: MIT OR Apache-2.0
#pragma once

#include "ns3/core-module.h"
#include "ns3/mobility-module.h"
#include "ns3/network-module.h"
#include "ns3/propagation-module.h"
#include "ns3/wifi-module.h"
#include "ns3/yans-wifi-helper.h"

#include <cmath>
#include <string>
#include <vector>

namespace ns3
{

constexpr double kTxPowerDbm = 24.5;
constexpr double kAntennaHeight = 1.5;
constexpr double kMargin = 0.01; // dB, so that a node exactly at the range is inside it

// Two-ray ground beyond its crossover distance (86 m at 914 MHz and 1.5 m).
inline double
PowerAt(double metres)
{
    return kTxPowerDbm + 40 * std::log10(kAntennaHeight) - 40 * std::log10(metres);
}

struct RadioOptions
{
    uint32_t dataRate; // Mbit/s: 1, 2 or 11
    uint32_t rts;      // RTS threshold, bytes
    double receive;    // metres
    double sense;
};

// 802.11b without QoS; control and broadcast frames at 1 Mbit/s.
inline NetDeviceContainer
InstallRadio(const NodeContainer& nodes, const RadioOptions& opt)
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

inline void
Place(const NodeContainer& nodes, const std::vector<Vector>& where)
{
    auto positions = CreateObject<ListPositionAllocator>();
    for (const auto& position : where)
    {
        positions->Add(position);
    }
    MobilityHelper mobility;
    mobility.SetPositionAllocator(positions);
    mobility.SetMobilityModel("ns3::ConstantPositionMobilityModel");
    mobility.Install(nodes);
}

} // namespace ns3
