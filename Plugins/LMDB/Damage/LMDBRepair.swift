internal import CLMDB
internal import EngineSupport
internal import Platform
internal import StorageSPI

/// Builds a new store from the readable parts of a damaged one, and replaces it.
///
/// LMDB never sees the damaged file, which is only read. The engine builds the new store in a folder beside it, and
/// syncs it. Then the damaged file gets a second name, and the new one takes over the first name in one step. After an
/// interruption at any point, one of the two is in place.
struct LMDBRepair {
  private let path: String
  private let plan: RepairPlan
  /// Called just before the store is locked, so that a test can act as another process.
  private let willLock: () -> Void
  /// Where the new store is built. Only one repair runs at a time, so anything found here is left over from a crash.
  private var scratch: String { path + "/repair" }

  init(_ path: String, _ plan: RepairPlan, willLock: @escaping () -> Void = {}) {
    (self.path, self.plan, self.willLock) = (path, plan, willLock)
  }

  /// Repairs the store. No environment of it may be open in this process.
  func run() throws(CacheError) -> RepairReport {
    try LMDBOwnership.requireOwn(path)
    guard try LMDBDataFile(readingIfPresentIn: path) != nil else { return RepairReport(saved: 0) }
    willLock()
    let lock = try LMDBExclusiveLock(path)
    // Read it again: until now another process may have written to the file, or replaced it.
    guard let file = try LMDBDataFile(readingIfPresentIn: path) else { return RepairReport(saved: 0) }
    var salvage = LMDBSalvage(file)
    try salvage.requireKnownFormat(path)
    if let entries = try entriesIfSound(&salvage) { return RepairReport(saved: entries) }
    removeScratch()
    defer { removeScratch() }
    var outcome = try saveToNewStore(&salvage)
    outcome.movedTo = [try exchange(lock)]
    return outcome.report
  }

  /// Reports what `run` would do, and changes nothing. No environment of the store may be open in this process.
  func preview() throws(CacheError) -> RepairReport {
    try LMDBOwnership.requireOwn(path)
    let lock = try LMDBExclusiveLock(ifPossible: path)
    defer { withExtendedLifetime(lock) {} }
    guard let file = try LMDBDataFile(readingIfPresentIn: path) else { return RepairReport(saved: 0) }
    var salvage = LMDBSalvage(file)
    try salvage.requireKnownFormat(path)
    if let entries = try entriesIfSound(&salvage) { return RepairReport(saved: entries) }
    var keys = LMDBSavedKeys()
    return try save(&salvage, to: &keys).report
  }

  /// Builds the new store, and closes it.
  private func saveToNewStore(_ salvage: inout LMDBSalvage) throws(CacheError) -> LMDBRepairOutcome {
    var store = try LMDBNewStore(path: scratch)
    let outcome = try save(&salvage, to: &store)
    try store.finish()
    return outcome
  }

  /// The number of entries if there is no damage; otherwise `nil`.
  private func entriesIfSound(_ salvage: inout LMDBSalvage) throws(CacheError) -> Int? {
    guard salvage.structureFault() == nil else { return nil }
    var (totals, slots) = ([LMDBNamespace: EntryTally.Count](), [LMDBSlot: EntryTally.Count]())
    var areSound = true
    try salvage.run { found in
      guard areSound, case .sound = judge(found),
        let (slot, count) = LMDBSlot.counting(found.value, in: LMDBNamespace(found.key))
      else { return areSound = false }
      totals[slot.namespace] = (totals[slot.namespace] ?? EntryTally.Count()) + count
      slots[slot] = (slots[slot] ?? EntryTally.Count()) + count
    }
    guard areSound, salvage.issues.isEmpty else { return nil }
    if let kept = salvage.keptTally(), kept.totals != totals || kept.slots != slots { return nil }
    return totals.values.reduce(0) { $0 + $1.entries }
  }

  private enum Judgement {
    case sound(LMDBEntry, EntryMetadata)
    case wrong(IntegrityIssue)
  }

  /// Judges whether an entry still has the content that was written.
  private func judge(_ found: LMDBSalvage.Found) -> Judgement {
    do throws(LMDBFault) {
      let entry = try LMDBEntry(found.value)
      let metadata = try entry.metadata()
      if plan.isSound(found.key, entry.payload.span, metadata) { return .sound(entry, metadata) }
      return .wrong(
        IntegrityIssue(
          key: found.key, kind: .checksumMismatch, message: "entry \(found.key) is not what was written"))
    } catch {
      let error = CacheError.lmdb(error, in: "entry \(found.key)")
      return .wrong(IntegrityIssue(key: found.key, kind: .undecodable, message: error.message))
    }
  }

  /// Saves the sound entries.
  private func save(
    _ salvage: inout LMDBSalvage, to store: inout some LMDBEntrySaving
  ) throws(CacheError) -> LMDBRepairOutcome {
    let fault = salvage.structureFault()
    var unsound: [CacheKey: IntegrityIssue] = [:]
    // Whether every entry found is known to belong to the last state.
    var isExact = true
    // Only entries that would be saved are judged, so `RepairPlan.isSound` never sees a version that another one
    // replaces.
    try salvage.run { found throws(CacheError) in
      let isKnown = try found.isListed ? false : store.holds(found.key)
      if isKnown { return }
      switch judge(found) {
      case .wrong(let issue): if found.isListed { unsound[found.key] = issue }
      case .sound(let entry, let metadata):
        if !found.isListed { isExact = false }
        try store.save(found.key, entry, metadata)
      }
    }
    let (expected, knowsFreePages) = (salvage.expectedEntries, salvage.knowsFreePages)
    if fault != nil, try store.count() + unsound.count != expected {
      // Entries elsewhere may be older or removed, so they count only if nothing else is known about their key.
      try salvage.runUnreached { found throws(CacheError) in
        guard unsound[found.key] == nil, try !store.holds(found.key),
          case .sound(let entry, let metadata) = judge(found)
        else { return }
        isExact = isExact && knowsFreePages
        try store.save(found.key, entry, metadata)
      }
    }
    let structure = fault.map {
      IntegrityIssue(kind: .structure, message: CacheError.lmdb($0, in: LMDBFile.data(in: path)).message)
    }
    if salvage.hasMisplacedPage { isExact = false }
    var outcome = LMDBRepairOutcome(saved: try store.count(), structure: structure, expected: isExact ? expected : nil)
    for issue in salvage.issues + unsound.values.sorted(by: { $0.message < $1.message }) {
      guard let key = issue.key else {
        outcome.places.append(issue)
        continue
      }
      if try !store.holds(key) { outcome.lost.append(issue) }
    }
    return outcome
  }

  /// Replaces the damaged store with the new one.
  ///
  /// - Returns: the new path of the damaged file.
  private func exchange(_ lock: borrowing LMDBExclusiveLock) throws(CacheError) -> String {
    let (current, new) = (LMDBFile.data(in: path), LMDBFile.data(in: scratch))
    let aside = try linkAside(current)
    do throws(CacheError) {
      // The lock file's content belongs to the damaged store; empty it, so that no process mistakes it for the new
      // store's.
      guard ftruncate(lock.descriptor, 0) == 0 else { throw .lmdb(errno, "repair", path: path) }
      try LMDBFile.reserveLocks(lock.descriptor, in: path)
      guard rename(new, current) == 0 else { throw .lmdb(errno, "repair", path: path) }
    } catch {
      unlink(aside)
      throw error
    }
    unlink(LMDBFile.record(in: path))
    syncFolder()
    // Initializes the lock file.
    _ = try LMDBOpenedEnvironment(path: path, mapSize: LMDBEnvironment.mapGranularity, reservesLocks: false)
    return aside
  }

  /// Gives the damaged file a second name.
  private func linkAside(_ current: String) throws(CacheError) -> String {
    for number in 1... {
      let aside = current + plan.suffix + (number == 1 ? "" : "-\(number)")
      if link(current, aside) == 0 { return aside }
      guard errno == EEXIST else { throw .lmdb(errno, "repair", path: path) }
    }
    throw .lmdb(EEXIST, "repair", path: path)
  }

  private func syncFolder() {
    let folder = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
    guard folder >= 0 else { return }
    fsync(folder)
    close(folder)
  }

  private func removeScratch() {
    unlink(LMDBFile.data(in: scratch))
    unlink(LMDBFile.lock(in: scratch))
    StoreMark(inFolder: scratch).remove()
    rmdir(scratch)
  }
}

/// An exclusive hold on the lock that every process shares while it has the store open: no process has it open, and one
/// that opens it waits.
///
/// It is LMDB's own lock: the first byte of the lock file, locked with `fcntl`. A process loses it when it closes any
/// descriptor of the file, so no environment of the store may be open in this one.
struct LMDBExclusiveLock: ~Copyable {
  let descriptor: Int32

  /// - Throws: `busy` where another process has the store open.
  init(_ path: String) throws(CacheError) {
    let descriptor = open(LMDBFile.lock(in: path), O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw .lmdb(errno, "repair", path: path) }
    try self.init(locking: descriptor, path)
  }

  /// The lock, without creating its file. It is `nil` if the file does not exist or is read-only: then no process of
  /// this user can have the store open for writing.
  init?(ifPossible path: String) throws(CacheError) {
    let descriptor = open(LMDBFile.lock(in: path), O_RDWR | O_CLOEXEC)
    guard descriptor >= 0 else { return nil }
    try self.init(locking: descriptor, path)
  }

  private init(locking descriptor: Int32, _ path: String) throws(CacheError) {
    var region = flock()
    region.l_type = Int16(F_WRLCK)
    region.l_whence = Int16(SEEK_SET)
    region.l_len = 1
    guard fcntl(descriptor, F_SETLK, &region) == 0 else {
      let status = errno
      close(descriptor)
      throw status == EACCES || status == EAGAIN ? .lmdbStoreInUse(path) : .lmdb(status, "repair", path: path)
    }
    self.descriptor = descriptor
  }

  deinit { close(descriptor) }
}
