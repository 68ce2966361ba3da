internal import CacheComposition
internal import FetchVocabulary
internal import CachePresentation
internal import ResponseStorage
internal import StorageSPI

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

  func findings(_ witnesses: [Witness]) -> [Finding] {
    let name = "clock"
    let text = RFC3339Text.text(now.sinceEpoch)
    let hint = "set the clock: until it is right, what is fresh may be served too long or not at all"
    if now < Self.earliest { return [.warning(name, "it is \(text) by the clock, which is impossible", hint: hint)] }
    let late = witnesses.filter { $0.time.map { $0.isAhead(of: now) } ?? false }
    if late.isEmpty { return [.ok(name, "it is \(text), and nothing is from the future")] }
    return late.compactMap { witness in
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
