internal import CLMDB
internal import Glibc
internal import StorageSPI

extension LMDBReader {
  /// Takes the pages of the file out of the memory of the process; they remain in that of the system. Others that read
  /// at the same time find them there again.
  ///
  /// LMDB does not tell where its map begins. It follows from any page, whose first eight bytes are its number.
  func releaseMappedPages() throws(StorageError) {
    try withSnapshot(of: { _ in false }) { transaction, _ throws(StorageError) in
      try transaction.withCursor(on: LMDBEnvironment.mainDatabase) { cursor throws(StorageError) in
        guard let key = try cursor.first()?.key.baseAddress else { return }
        var (stat, info) = (MDB_stat(), MDB_envinfo())
        mdb_env_stat(environment.pointer, &stat)
        mdb_env_info(environment.pointer, &info)
        let size = Int(stat.ms_psize)
        let page = UnsafeRawPointer(bitPattern: UInt(bitPattern: key) & ~UInt(size - 1))
        guard let page else { return }
        let start = page - Int(page.load(as: UInt64.self)) * size
        // It is no failure where the system does not want to.
        madvise(UnsafeMutableRawPointer(mutating: start), Self.mappedBytes(info, pageSize: size), MADV_DONTNEED)
      }
    }
  }

  /// How much of the map holds pages. Another process may have written beyond the map just now: what lies there in the
  /// memory of this one is something else.
  static func mappedBytes(_ info: MDB_envinfo, pageSize: Int) -> Int {
    min((info.me_last_pgno + 1) * pageSize, info.me_mapsize)
  }
}
