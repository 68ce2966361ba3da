internal import CLMDB
internal import Glibc
internal import StorageSPI

/// The size of the memory map: address space, not memory and not disk. It only ever grows.
///
/// LMDB demands that no transaction of the process is open when it is set. Readers are taken from their pool and given
/// back to it inside the gate: whoever is alone there finds all of them idle, and ends those that kept their snapshot.
extension LMDBEnvironment {
  /// What the size of the map is rounded up to.
  static let mapGranularity = 1_048_576

  /// Does `work` inside the gate, where the caller is and has no transaction open. Where another process has written
  /// beyond the map, it leaves the gate to enlarge that, and does `work` again.
  func adoptingMapSize<Output>(_ work: () throws(StorageError) -> Output) throws(StorageError) -> Output {
    while true {
      do { return try work() } catch {
        guard error.lmdbStatus == MDB_MAP_RESIZED else { throw error }
        gate.leave()
        defer { gate.enter() }
        try adoptMapSize()
      }
    }
  }

  /// Makes room for what another process has written beyond the map, unless another thread was faster.
  private func adoptMapSize() throws(StorageError) {
    try gate.alone { () throws(StorageError) in
      let (size, used) = Self.mapUse(of: pointer)
      if used > size { try enlarge(from: size, toHold: used, "map") }
    }
  }

  /// Does `work`, which writes about `bytes` bytes, inside the gate; where the map is too small it grows, and `work` is
  /// done again from the beginning. It grows beforehand where it can be foreseen.
  func growing<Output>(
    for bytes: Int, _ work: () throws(StorageError) -> Output
  ) throws(StorageError) -> Output {
    while true {
      gate.enter()
      let (size, used) = Self.mapUse(of: pointer)
      let status: Int32?
      do throws(StorageError) {
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

  /// At least doubles the map, unless another thread was faster.
  ///
  /// Readers of crashed processes are cleared away first: they keep freed pages from being used again.
  private func grow(from size: Int, toHold bytes: Int) throws(StorageError) {
    mdb_reader_check(pointer, nil)
    try gate.alone { () throws(StorageError) in
      if Self.mapUse(of: pointer).size == size { try enlarge(from: size, toHold: bytes, "grow the map of") }
    }
  }

  /// At least doubles the map. Nobody else is inside the gate.
  ///
  /// LMDB gives up its map before it asks for the new one. Where it does not get that, the next call would end the
  /// process: so the addresses are asked for beforehand.
  private func enlarge(from size: Int, toHold bytes: Int, _ action: String) throws(StorageError) {
    snapshots.endIdle()
    let wanted = max(size * 2, bytes + bytes / 4)
    let rounded = (wanted / Self.mapGranularity + 1) * Self.mapGranularity
    let room = mmap(nil, rounded, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)
    guard let room, room != MAP_FAILED else { throw error(errno, action) }
    munmap(room, rounded)
    let status = mdb_env_set_mapsize(pointer, rounded)
    guard status == MDB_SUCCESS else { throw error(status, action) }
  }

  /// The size of the map, and how much of it is in use or free for use again, in bytes. Reads the map:
  /// the caller is inside the gate.
  private static func mapUse(of pointer: OpaquePointer) -> (size: Int, used: Int) {
    var (info, stat) = (MDB_envinfo(), MDB_stat())
    mdb_env_info(pointer, &info)
    mdb_env_stat(pointer, &stat)
    return (info.me_mapsize, (info.me_last_pgno + 1) * Int(stat.ms_psize))
  }
}
