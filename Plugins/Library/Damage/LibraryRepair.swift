internal import CCachectlPlugin
internal import StorageSPI

/// What a library has reported about a repair so far.
struct LibraryRepair: LibraryCallState {
  private static let maximumFiles = 1 << 20

  private let plan: RepairPlan
  private(set) var lost = LibraryIssues()
  private(set) var mended = LibraryIssues()
  private(set) var moved: [String] = []
  private var ownDefect: LibraryDefect?

  var defect: LibraryDefect? {
    get { ownDefect ?? lost.defect ?? mended.defect }
    set { ownDefect = newValue }
  }

  init(_ plan: RepairPlan) { self.plan = plan }

  /// The plan in the form that the library receives.
  ///
  /// - Parameter suffix: a copy of the plan's suffix, which stays in place during the call.
  static func lent(_ suffix: cachectl_bytes, _ context: UnsafeMutableRawPointer) -> cachectl_repair {
    cachectl_repair(
      size: MemoryLayout<cachectl_repair>.size, suffix: suffix,
      is_sound: { LibraryCall.state($0, .repair, LibraryRepair.self)?.pointee.isSound($1) ?? 0 },
      lost: { LibraryCall.state($0, .repair, LibraryRepair.self)?.pointee.lost.add($1) ?? LibraryCall.stop },
      moved: { LibraryCall.state($0, .repair, LibraryRepair.self)?.pointee.add(moved: $1) ?? LibraryCall.stop },
      context: context,
      mended: { LibraryCall.state($0, .repair, LibraryRepair.self)?.pointee.mended.add($1) ?? LibraryCall.stop })
  }

  /// Returns 1 if the entry may be kept. Data from a damaged store may be anything, so an invalid entry is no defect of
  /// the library.
  private func isSound(_ entry: UnsafePointer<cachectl_entry>?) -> Int32 {
    do throws(LibraryDefect) {
      let entry = try LibraryEntry(entry)
      let payload = try entry.payload().assumingMemoryBound(to: UInt8.self)
      return plan.isSound(try entry.key(), payload.span, try entry.metadata()) ? 1 : 0
    } catch {
      return 0
    }
  }

  private mutating func add(moved path: cachectl_bytes) -> Int32 {
    visiting { state throws(LibraryDefect) in
      let path = try LibraryText.text(try path.checked("path of a file"), "path of a file")
      guard path.hasPrefix("/"), !path.utf8.contains(0), state.moved.count < Self.maximumFiles else {
        throw LibraryDefect("moved a file to where none can be")
      }
      state.moved.append(path)
    }
  }
}

extension LibraryTable {
  /// Calls `repair`, a function of the library that repairs the store that `configuration` describes, or previews that.
  func repair(
    _ configuration: EngineConfiguration, _ plan: RepairPlan, _ repair: LibraryFunctions.Repair
  ) throws(CacheError) -> RepairReport {
    let configuration = try LibraryConfiguration(
      configuration, for: declaration, LibraryClock(configuration.clock))
    var arena = LibraryArena()
    defer { withExtendedLifetime(arena) {} }
    let suffix = arena.copy(plan.suffix)
    var state = LibraryRepair(plan)
    var saved: UInt64 = 0
    try LibraryCall.make(.repair, self, &state) { context, failure in
      configuration.withConfiguration { configuration in
        withUnsafePointer(to: LibraryRepair.lent(suffix, context)) { repair(configuration, $0, &saved, failure) }
      }
    }
    guard let saved = Int(exactly: saved) else { throw .defect("says that it saved \(saved) entries", of: name) }
    return RepairReport(
      saved: saved, lost: state.lost.issues, mended: state.mended.issues, movedTo: state.moved)
  }
}
