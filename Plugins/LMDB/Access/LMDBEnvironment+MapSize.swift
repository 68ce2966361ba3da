internal import CCrashNotice
internal import CLMDB
internal import EngineSupport
internal import Platform
internal import StorageSPI

/// The size of the memory map, which is address space rather than memory or disk. It only ever grows.
///
/// LMDB requires that no transaction of this process is open when the size is set. Readers are taken from their pool
/// and returned to it inside the gate. So a thread that is alone in the gate finds all of them idle, and ends those
/// that kept their snapshot.
extension LMDBEnvironment {
  /// The size of the map is rounded up to a multiple of this.
  static let mapGranularity = 1_048_576

  /// Runs `work`; the caller is inside the gate and has no transaction open. If another process has written beyond the
  /// map, this leaves the gate to enlarge the map, and runs `work` again.
  func adoptingMapSize<Output>(_ work: () throws(CacheError) -> Output) throws(CacheError) -> Output {
    while true {
      do { return try work() } catch {
        guard error.lmdbStatus == MDB_MAP_RESIZED else { throw error }
        gate.leave()
        defer { gate.enter() }
        try adoptMapSize()
      }
    }
  }

  /// Enlarges the map to hold what another process has written beyond it, unless another thread already has.
  private func adoptMapSize() throws(CacheError) {
    try gate.alone { () throws(CacheError) in
      let (size, used) = Self.mapUse(of: pointer)
      if used > size { try enlarge(from: size, toHold: used, "map") }
    }
  }

  /// Runs `work`, which writes about `bytes` bytes, inside the gate. If the map is too small, it grows and `work`
  /// starts again from the beginning. If that is foreseeable, the map grows beforehand.
  func growing<Output>(
    for bytes: Int, _ work: () throws(CacheError) -> Output
  ) throws(CacheError) -> Output {
    while true {
      gate.enter()
      let (size, used) = Self.mapUse(of: pointer)
      let status: Int32?
      do throws(CacheError) {
        defer { gate.leave() }
        if used + bytes <= size { return try work() }
        status = nil
      } catch {
        status = error.lmdbStatus
        guard status == MDB_MAP_RESIZED || status == MDB_MAP_FULL else { throw error }
      }
      switch status {
      case MDB_MAP_RESIZED: try adoptMapSize()
      case MDB_MAP_FULL: try grow(from: size, toHold: size + bytes)
      default: try grow(from: size, toHold: used + bytes)
      }
    }
  }

  /// At least doubles the map, unless another thread already has.
  ///
  /// It first clears the readers of crashed processes, which stop freed pages from being reused.
  private func grow(from size: Int, toHold bytes: Int) throws(CacheError) {
    mdb_reader_check(pointer, nil)
    try gate.alone { () throws(CacheError) in
      if Self.mapUse(of: pointer).size == size { try enlarge(from: size, toHold: bytes, "grow the map of") }
    }
  }

  /// At least doubles the map. No other thread is inside the gate.
  ///
  /// LMDB gives up its map before it asks for a new one. If it got none, the next call would end the process; so this
  /// reserves the addresses beforehand.
  private func enlarge(from size: Int, toHold bytes: Int, _ action: String) throws(CacheError) {
    snapshots.endIdle()
    let wanted = max(size * 2, bytes + bytes / 4)
    let rounded = (wanted / Self.mapGranularity + 1) * Self.mapGranularity
    let room = mmap(nil, rounded, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
    guard let room, room != MAP_FAILED else { throw error(errno, action) }
    munmap(room, rounded)
    let status = mdb_env_set_mapsize(pointer, rounded)
    let (start, length) = Self.map(of: pointer)
    ccrash_move(notice, start, length)
    guard status == MDB_SUCCESS else { throw error(status, action) }
  }

  /// Where the map is, and its size in bytes.
  static func map(of pointer: OpaquePointer) -> (start: UnsafeMutableRawPointer?, length: Int) {
    var info = MDB_envinfo()
    mdb_env_info(pointer, &info)
    return (info.me_mapaddr, info.me_mapsize)
  }

  /// The size of the map, and how much of it is in use or free for reuse, in bytes. It reads the map, so the caller
  /// must be inside the gate.
  private static func mapUse(of pointer: OpaquePointer) -> (size: Int, used: Int) {
    var (info, stat) = (MDB_envinfo(), MDB_stat())
    mdb_env_info(pointer, &info)
    mdb_env_stat(pointer, &stat)
    return (info.me_mapsize, (info.me_last_pgno + 1) * Int(stat.ms_psize))
  }
}
