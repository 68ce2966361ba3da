internal import StorageSPI

extension EntryCheck {
  /// Reads an entry, and checks its bytes in place.
  func read(_ engine: any StorageEngine, _ number: Int) async throws(BenchmarkFailure) {
    let floor = ledger.committed(number)
    try await read(engine, try key(number), number, floor: floor)
  }

  /// Reads the entry under `key`, and checks its bytes in place.
  ///
  /// - Parameter floor: the version that was committed before this call.
  @inline(__always)
  func read(
    _ engine: any StorageEngine, _ key: CacheKey, _ number: Int, floor: UInt32
  ) async throws(BenchmarkFailure) {
    let fault: WrongAnswer??
    do throws(CacheError) {
      fault = try await engine.read(key) { payload, metadata throws(CacheError) in
        try self.fault(number, payload, metadata, floor: floor)
      }
    } catch { throw BenchmarkFailure(error) }
    switch fault {
    case .some(.none): return
    case .some(.some(let fault)): throw .wrong(fault)
    case .none: try BenchmarkFailure.require(faultOfAbsence(number, floor: floor))
    }
  }

  /// The key of the entry.
  @inline(__always)
  func key(_ number: Int) throws(BenchmarkFailure) -> CacheKey {
    do { return try keys.key(number) } catch { throw BenchmarkFailure(error) }
  }
}
