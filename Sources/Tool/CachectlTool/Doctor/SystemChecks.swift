internal import FetchVocabulary
internal import CachePresentation
internal import CacheCore
internal import EngineAPI

/// Checks that the time of day is plausible: the freshness of entries depends on it.
struct ClockCheck: Sendable {
  /// 2020-01-01T00:00:00Z: this program was not written before.
  private static let earliest = Timestamp(milliseconds: 1_577_836_800_000)

  let now: Timestamp

  /// A point in time that must not lie in the future.
  struct Witness: Sendable {
    /// What happened then, such as "an entry of sqlite was stored".
    let name: String
    let time: Timestamp?
  }

  /// The entries of a store that were stored later than it is now.
  struct Ahead: Sendable {
    /// So many keys are named.
    static let maximumKeys = 3

    private(set) var count = 0
    /// The last ones stored, at most `maximumKeys`, the latest first.
    private(set) var latest: [(key: CacheKey, time: Timestamp)] = []

    /// Counts `entry` if it was stored later than `now`.
    mutating func add(_ entry: ScannedEntry, at now: Timestamp) {
      let time = entry.metadata.storedAt
      guard time.isAhead(of: now) else { return }
      count += 1
      latest = Array((latest + [(entry.key, time)]).sorted { $0.time > $1.time }.prefix(Self.maximumKeys))
    }
  }

  /// The findings about the time of day, by `witnesses`, and by what each store has `ahead` of it.
  ///
  /// Files have their times from the same clock as entries, and are written more often. So if entries alone are from the
  /// future, the clock was wrong when they were stored, or they came from another machine, and it is right now.
  func findings(_ witnesses: [Witness], _ ahead: [(backend: String, entries: Ahead)] = []) -> [Finding] {
    let name = "clock"
    let text = RFC3339Text.text(now.sinceEpoch)
    let hint = "set the clock: until it is right, what is fresh may be served too long or not at all"
    if now < Self.earliest { return [.warning(name, "it is \(text) by the clock, which is impossible", hint: hint)] }
    let late = witnesses.filter { $0.time.map { $0.isAhead(of: now) } ?? false }
    let ahead = ahead.filter { $0.entries.count > 0 }
    if late.isEmpty, ahead.isEmpty { return [.ok(name, "it is \(text), and nothing is from the future")] }
    let entries = ahead.map { backend, entries in
      let keys = entries.latest.map(\.key.text)
      let latest = entries.latest.first.map { "\($0.key) at \(RFC3339Text.text($0.time.sinceEpoch))" } ?? ""
      let (count, isOne) = (NumberText.count(entries.count, "entry", "entries"), entries.count == 1)
      let rest = entries.count > keys.count ? ", and ask again" : ""
      return Finding.warning(
        name,
        "\(count) of \(backend) \(isOne ? "was" : "were") stored after now, \(latest), but it is \(text) by the clock",
        hint: late.isEmpty
          ? "remove \(isOne ? "it" : "them") with: cachectl --backend \(backend) rm \(keys.joined(separator: " "))\(rest)"
          : hint)
    }
    return entries
      + late.compactMap { witness in
        witness.time.map { time in
          .warning(
            name, "\(witness.name) at \(RFC3339Text.text(time.sinceEpoch)), but it is \(text) by the clock", hint: hint)
        }
      }
  }
}

/// Checks that there is enough space for the entries.
struct SpaceCheck: Sendable {
  /// Below this nothing works for long: engines write a batch beside the data it replaces.
  static let floor = 64 << 20

  let files: any FileInspection

  /// Checks the file system of the home at `path`, which may have to hold `maximumBytes` of payload, `usedBytes` of
  /// them stored already.
  func finding(home path: String, maximumBytes: Int, usedBytes: Int) -> Finding {
    let name = "space"
    guard let space = files.space(at: files.nearestFolder(of: path)) else {
      return .warning(name, "the free space for \(path) cannot be told", hint: "look at it with: df \(path)")
    }
    let free = "\(ByteCountText.text(space.free)) are free for \(path)"
    if space.isReadOnly {
      return .warning(name, "the file system of \(path) may only be read", hint: "nothing new is stored there")
    }
    if space.free < Self.floor {
      return .problem(
        name, .noSpace, "only \(free)", hint: "make room, for example with cachectl compact, or move the home")
    }
    let missing = maximumBytes - usedBytes
    if space.free < missing {
      return .warning(
        name, "\(free), less than cache.maxBytes (\(ByteCountText.text(maximumBytes))) allows",
        hint: "lower cache.maxBytes, or move the home")
    }
    return .ok(name, free)
  }
}
