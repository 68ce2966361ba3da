internal import CacheComposition
internal import CacheDomain
internal import CachePresentation

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
