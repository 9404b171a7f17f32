//! Plain Reno: fast recovery of RFC 5681 section 3.2, which ends at the first acknowledgement of new data.

use airfair_transport::{InitialWindow, TcpConfig};

use crate::support::laws::Law;
use crate::support::sender::{check, plain};

#[test]
fn a_partial_acknowledgement_ends_recovery_and_a_second_loss_halves_again() {
    check(
        &TcpConfig { initial_window: InitialWindow::Segments(10), ..plain() },
        Law::Reno,
        "
        0 open
        0 endless
        > 1:10001/1000
        100 < 1
        101 < 1
        102 < 1
        ! fast-loss 10000 pipe 7000
        > 1:1001
        103 < 1
        104 < 1
        105 < 1
        > 10001:11001
        # 11000 outstanding before the acknowledgement, 6000 after it, and the window is 5000.
        200 < 5001
        ! recovered 6000
        = state=open window=5000 deadline=1200
        205 < 5001
        206 < 5001
        207 < 5001
        ! fast-loss 6000 pipe 1000
        > 5001:6001
        # 3000 + 3000.
        = window=3000 recoveries=2
        ",
    );
}

#[test]
fn a_second_loss_in_a_window_waits_for_the_timer_if_configured() {
    check(
        &TcpConfig { initial_window: InitialWindow::Segments(10), fast_retransmit_once: true, ..plain() },
        Law::Reno,
        "
        0 open
        0 endless
        > 1:10001/1000
        100 < 1
        101 < 1
        102 < 1
        ! fast-loss 10000 pipe 7000
        > 1:1001
        103 < 1
        104 < 1
        105 < 1
        > 10001:11001
        # The recovery has ended, but the duplicates below are of the same window of data.
        200 < 5001
        ! recovered 6000
        = state=open window=5000 deadline=1200
        205 < 5001
        206 < 5001
        207 < 5001
        = window=5000 recoveries=1 deadline=1200
        1200 timer
        ! timeout 6000 pipe 1000
        > 5001:6001
        ",
    );
}

#[test]
fn after_a_time_out_duplicates_are_not_believed() {
    check(
        &plain(),
        Law::Reno,
        "
        0 open
        0 write 3000
        > 1:3001/1000
        1000 timer
        ! timeout 3000 pipe 3000
        > 1:1001
        1100 < 1
        1100 < 1
        1100 < 1
        = state=loss
        ",
    );
}
