internal import CLMDB
internal import Glibc
internal import StorageSPI

extension LMDBReader {
  /// Removes the file's pages from this process's memory; they stay in the system's cache. Concurrent readers find them
  /// there again.
  ///
  /// LMDB does not say where its map begins. Any page tells, because its first eight bytes are its number.
  func releaseMappedPages() throws(CacheError) {
    try withSnapshot(of: { _ in false }) { transaction, _ throws(CacheError) in
      try transaction.withCursor(on: LMDBEnvironment.mainDatabase) { cursor throws(CacheError) in
        guard let key = try cursor.first()?.key.baseAddress else { return }
        var (stat, info) = (MDB_stat(), MDB_envinfo())
        mdb_env_stat(environment.pointer, &stat)
        mdb_env_info(environment.pointer, &info)
        let size = Int(stat.ms_psize)
        let page = UnsafeRawPointer(bitPattern: UInt(bitPattern: key) & ~UInt(size - 1))
        guard let page else { return }
        let start = page - Int(page.load(as: UInt64.self)) * size
        // It is not an error if the system ignores the advice.
        madvise(UnsafeMutableRawPointer(mutating: start), Self.mappedBytes(info, pageSize: size), MADV_DONTNEED)
      }
    }
  }

  /// How much of the map holds pages. Another process may just have written beyond the map, where this process's memory
  /// holds something else.
  static func mappedBytes(_ info: MDB_envinfo, pageSize: Int) -> Int {
    min((info.me_last_pgno + 1) * pageSize, info.me_mapsize)
  }
}
