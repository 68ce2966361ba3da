internal import CLMDB

extension MDB_val {
  /// The bytes in LMDB's form; LMDB does not write to them.
  init(_ bytes: UnsafeRawBufferPointer) {
    self.init(mv_size: bytes.count, mv_data: UnsafeMutableRawPointer(mutating: bytes.baseAddress))
  }
}

extension UnsafeRawBufferPointer {
  /// The bytes that LMDB lends.
  init(_ value: MDB_val) { self.init(start: value.mv_data, count: value.mv_size) }
}
