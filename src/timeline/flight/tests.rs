//! Times of dispatches, and why some have none.

use super::*;

fn ticket(bytes: u64) -> Ticket {
    let line = Location::caller();
    Ticket { count: 1, kernel: "k", line, bytes, flops: 0 }
}

fn flight(dispatches: &[Ticket], submitted: Duration) -> Flight {
    Flight::new(dispatches, submitted, &Arc::default())
}

/// What comes of two dispatches with these timestamps, which the host saw for so long.
fn times(ticks: [u64; 3], milliseconds: u64) -> Vec<Result<f64, NoTime>> {
    let flight = flight(&[ticket(1 << 20); 2], Duration::from_secs(1));
    assert_eq!(flight.times(), [Err(NoTime::Pending); 2], "nothing has come");
    let arrived = Duration::from_secs(1) + Duration::from_millis(milliseconds);
    flight.stamp(Stamped { ticks: ticks.to_vec(), period: 10.0, arrived });
    flight.times().into_iter().map(|time| time.map(|(_, time)| time)).collect()
}

#[test]
fn timestamps_that_make_no_sense_are_no_times() {
    use NoTime::{Absurd, Backwards, Zero};
    for (ticks, milliseconds, want) in [
        ([1000, 1100, 1150], 10, [Ok(1000.0), Ok(500.0)]),
        ([1000, 1000, 1000], 10, [Ok(0.0); 2]),
        ([0, 0, 0], 10, [Err(Zero); 2]),
        ([0, 1100, 1150], 10, [Err(Zero), Ok(500.0)]),
        ([1000, 1100, 0], 10, [Ok(1000.0), Err(Zero)]),
        ([1000, 900, 1150], 10, [Err(Backwards), Ok(2500.0)]),
        ([1000, 1100, 2_000_000], 10, [Err(Absurd); 2]),
        ([1000, 1100, 2_000_000], 20, [Ok(1000.0), Ok(19_989_000.0)]),
    ] {
        assert_eq!(times(ticks, milliseconds), want, "{ticks:?} in {milliseconds} ms");
    }
}

#[test]
fn a_flight_that_was_lost_stays_so() {
    let flight = flight(&[ticket(1)], Duration::ZERO);
    flight.forgo(NoTime::Lost);
    flight.stamp(Stamped { ticks: vec![1, 2], period: 1.0, arrived: Duration::ZERO });
    assert_eq!(flight.times(), [Err(NoTime::Lost)], "the first word counts");
}

/// How many dispatches stand before each timestamp, and the counts of the tickets.
fn laps(dispatches: &[Ticket], solos: &Arc<Solos>) -> (Vec<usize>, Vec<u64>) {
    let flight = Flight::new(dispatches, Duration::ZERO, solos);
    (flight.strides().collect(), flight.tickets.iter().map(|ticket| ticket.count).collect())
}

#[test]
fn small_dispatches_that_are_known_are_timed_together() {
    let (small, large) = (ticket(1024), ticket(1 << 20));
    let other = Ticket { kernel: "other", ..small };
    let solos = Arc::default();
    assert_eq!(laps(&[small, small, small], &solos), (vec![1, 1, 1], vec![1, 1, 1]));
    assert_eq!(laps(&[small, small, other], &solos), (vec![2, 1], vec![2, 1]), "not yet");
    assert_eq!(laps(&[other, other], &solos), (vec![1, 1], vec![1, 1]), "the second time");
    let mixed = [small, other, other, large, large, small];
    assert_eq!(laps(&mixed, &solos), (vec![3, 1, 1, 1], vec![1, 2, 1, 1, 1]));
    let many = vec![small; TOGETHER_MAX + 1];
    assert_eq!(laps(&many, &solos), (vec![TOGETHER_MAX, 1], vec![TOGETHER_MAX as u64, 1]));
    let elsewhere = Ticket { line: Location::caller(), ..small };
    assert_eq!(laps(&[small, elsewhere], &solos), (vec![2], vec![1, 1]), "two rows");
}

#[test]
fn those_timed_together_share_the_time() {
    let (fast, solos) = (ticket(1024), Arc::default());
    let slow = Ticket { kernel: "slow", ..fast };
    let stamped = |dispatches: &[Ticket], ticks: &[u64]| {
        let flight = Flight::new(dispatches, Duration::ZERO, &solos);
        let arrived = Duration::ZERO;
        flight.stamp(Stamped { ticks: ticks.to_vec(), period: 2.0, arrived });
        flight
    };
    stamped(&[fast, slow, fast, slow], &[10, 60, 210, 220, 250]);
    // 10 and 30 ticks by themselves; together 120.
    let flight = stamped(&[fast, fast, slow, fast], &[1000, 1120]);
    assert_eq!(flight.times(), [Ok((1000, 80.0)), Ok((1040, 120.0)), Ok((1100, 40.0))]);
    assert_eq!(stamped(&[fast, slow], &[0, 5]).times(), [Err(NoTime::Zero); 2]);
}

#[test]
fn counts_are_of_every_dispatch() {
    let solos = Arc::default();
    let line = ticket(1024);
    Flight::new(&[line, line], Duration::ZERO, &solos);
    let flight =
        Flight::new(&[line, line, Ticket { bytes: 1 << 20, ..line }], Duration::ZERO, &solos);
    flight.stamp(Stamped { ticks: vec![5, 25, 0], period: 1.0, arrived: Duration::ZERO });
    let mut flown = Flown::default();
    flown.add(&flight);
    let count = flown.origins.values().next().expect("one line");
    assert_eq!((count.calls, count.timed, count.nanoseconds), (3, 2, 20.0));
    assert_eq!((count.bytes, count.timed_bytes), (2048 + (1 << 20), 2048));
    assert_eq!(flown.untimed[NoTime::Zero as usize], 1);
    let places = REASONS.iter().enumerate();
    assert!(places.into_iter().all(|(place, (why, _))| *why as usize == place), "in order");
}
