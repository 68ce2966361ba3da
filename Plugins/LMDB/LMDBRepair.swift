internal import CLMDB
internal import Glibc
internal import StorageSPI

/// Makes a new store of what can be read of a damaged one, and puts it in its place.
///
/// LMDB never sees the damaged file, which is only read. The new store is made beside it, in a folder of its own, by the
/// engine itself, and synced; then the damaged file gets its second name, and the new one takes over the first in one
/// step. Interrupted anywhere, one of the two is in place.
struct LMDBRepair {
  /// The bytes of payloads after which a batch is written.
  private static let batchBytes = 1 << 20
  private static let batchEntries = 1_000

  private let path: String
  private let plan: RepairPlan
  /// Where the new store is made. Whoever repairs is alone, so what is there already was left behind by a crash.
  private var scratch: String { path + "/repair" }

  init(_ path: String, _ plan: RepairPlan) {
    (self.path, self.plan) = (path, plan)
  }

  /// Repairs the store. No environment of it may be open in this process.
  func run() throws(StorageError) -> RepairReport {
    guard try LMDBDataFile(readingIfPresentIn: path) != nil else { return RepairReport(saved: 0) }
    let lock = try LMDBExclusiveLock(path)
    // Again: until then another process may have written to the file, or put another one in its place.
    guard let file = try LMDBDataFile(readingIfPresentIn: path) else { return RepairReport(saved: 0) }
    var salvage = LMDBSalvage(file)
    try salvage.requireKnownFormat(path)
    if let entries = try entriesIfSound(&salvage) { return RepairReport(saved: entries) }
    removeScratch()
    defer { removeScratch() }
    let (saved, lost) = try save(&salvage)
    let moved = try exchange(lock)
    return RepairReport(saved: saved, lost: lost, movedTo: [moved])
  }

  /// The number of entries, where nothing is wrong.
  private func entriesIfSound(_ salvage: inout LMDBSalvage) throws(StorageError) -> Int? {
    guard salvage.structureFault() == nil else { return nil }
    var (totals, slots) = ([LMDBNamespace: EntryTally.Count](), [LMDBSlot: EntryTally.Count]())
    var areSound = true
    try salvage.run { found in
      guard areSound, issue(with: found) == nil,
        let (slot, count) = LMDBSlot.counting(found.value, in: LMDBNamespace(found.key))
      else { return areSound = false }
      totals[slot.namespace] = (totals[slot.namespace] ?? EntryTally.Count()) + count
      slots[slot] = (slots[slot] ?? EntryTally.Count()) + count
    }
    guard areSound, salvage.issues.isEmpty else { return nil }
    if let kept = salvage.keptTally(), kept.totals != totals || kept.slots != slots { return nil }
    return totals.values.reduce(0) { $0 + $1.entries }
  }

  /// What is wrong with an entry; `nil` where it is what was once written.
  private func issue(with found: LMDBSalvage.Found) -> IntegrityIssue? {
    do throws(LMDBFault) {
      let entry = try LMDBEntry(found.value)
      if plan.isSound(found.key, entry.payload.span, try entry.metadata()) { return nil }
      return IntegrityIssue(
        key: found.key, kind: .checksumMismatch, message: "entry \(found.key) is not what was written")
    } catch {
      let error = StorageError.lmdb(error, in: "entry \(found.key)")
      return IntegrityIssue(key: found.key, kind: .undecodable, message: error.message)
    }
  }

  /// Makes the new store.
  private func save(_ salvage: inout LMDBSalvage) throws(StorageError) -> (saved: Int, lost: [IntegrityIssue]) {
    let structure = salvage.structureFault().map {
      IntegrityIssue(kind: .structure, message: StorageError.lmdb($0, in: LMDBFile.data(in: path)).message)
    }
    let opened = try LMDBOpenedEnvironment(path: scratch, mapSize: LMDBEnvironment.mapGranularity)
    let environment = LMDBEnvironment(opened, path: scratch, keyCoding: LMDBKeyCoding()) { _ in }
    try environment.openMainDatabase()
    var (batch, bytes, lost) = (WriteBatch(), 0, [IntegrityIssue]())
    try salvage.run { found throws(StorageError) in
      if let problem = issue(with: found) { return lost.append(problem) }
      try decoding(found.key) { () throws(LMDBFault) in
        let entry = try LMDBEntry(found.value)
        batch.put(found.key, payload: Array(entry.payload), metadata: try entry.metadata())
        bytes += entry.payloadSize
      }
      if bytes > Self.batchBytes || batch.operations.count >= Self.batchEntries {
        try environment.apply(batch, .relaxed)
        (batch, bytes) = (WriteBatch(), 0)
      }
    }
    try environment.apply(batch, .relaxed)
    let status = mdb_env_sync(environment.pointer, 1)
    guard status == MDB_SUCCESS else { throw environment.error(status, "write to") }
    var found = [structure].compactMap(\.self) + salvage.issues
    for issue in lost where try !environment.holds(issue.key) { found.append(issue) }
    return (try environment.statistics().entries, found.isEmpty ? [Self.wrongTally] : found)
  }

  private static let wrongTally = IntegrityIssue(
    kind: .structure, message: "the tally disagrees with the entries: it was counted anew")

  /// Puts the new store in place of the damaged one.
  ///
  /// - Returns: where the damaged file is now.
  private func exchange(_ lock: borrowing LMDBExclusiveLock) throws(StorageError) -> String {
    let (current, new) = (LMDBFile.data(in: path), LMDBFile.data(in: scratch))
    let aside = try linkAside(current)
    do throws(StorageError) {
      // What is in the file of locks belongs to the damaged store: emptied, nobody takes it for the new one's.
      guard ftruncate(lock.descriptor, 0) == 0 else { throw .lmdb(errno, "repair", path: path) }
      try LMDBFile.reserveLocks(lock.descriptor, in: path)
      guard rename(new, current) == 0 else { throw .lmdb(errno, "repair", path: path) }
    } catch {
      unlink(aside)
      throw error
    }
    syncFolder()
    // Fills the file of locks.
    _ = try LMDBOpenedEnvironment(path: path, mapSize: LMDBEnvironment.mapGranularity, reservesLocks: false)
    return aside
  }

  /// Gives the damaged file a second name.
  private func linkAside(_ current: String) throws(StorageError) -> String {
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
    rmdir(scratch)
  }
}

/// The lock that every process shares as long as it has the store open, held alone: nobody has, and whoever opens it
/// waits.
///
/// It is the one of LMDB: the first byte of the file of locks, locked with `fcntl`. A process loses it when it closes
/// any descriptor of the file, so no environment of the store may be open in this one.
struct LMDBExclusiveLock: ~Copyable {
  let descriptor: Int32

  /// - Throws: `busy` where another process has the store open.
  init(_ path: String) throws(StorageError) {
    let descriptor = open(LMDBFile.lock(in: path), O_RDWR | O_CREAT | O_CLOEXEC, 0o600)
    guard descriptor >= 0 else { throw .lmdb(errno, "repair", path: path) }
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

extension LMDBEnvironment {
  /// Whether there is an entry under `key`.
  fileprivate func holds(_ key: CacheKey?) throws(StorageError) -> Bool {
    guard let key else { return false }
    return try withReader { reader throws(StorageError) in
      try key.withBytes { bytes throws(StorageError) in
        guard try reader.begin(reading: bytes, namespaceLength: key.namespaceLength) != nil else { return false }
        reader.end()
        return true
      }
    }
  }
}
