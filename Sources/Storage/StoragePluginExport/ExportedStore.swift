internal import CCachectlPlugin
internal import Platform
internal import StorageSPI

typealias Failure = UnsafeMutablePointer<cachectl_failure>

/// An open store in the host's hands: the target of a `cachectl_store *`.
private final class ExportedStore: Sendable {
  let engine: any StorageEngine

  init(_ engine: any StorageEngine) { self.engine = engine }

  /// Calls `body` with the engine of the host's store, without counting references.
  @inline(__always)
  static func with(_ store: OpaquePointer?, _ body: (any StorageEngine) -> Int32) -> Int32 {
    // A number that no function returns.
    guard let store else { return -1 }
    return Unmanaged<ExportedStore>.fromOpaque(UnsafeRawPointer(store))._withUnsafeGuaranteedRef { body($0.engine) }
  }

  /// Runs a call of the engine to its end, and lends the result to the host.
  static func run<Output: Sendable>(
    _ store: OpaquePointer?, _ failure: Failure?,
    _ call: @escaping @Sendable (any StorageEngine) async throws(CacheError) -> Output,
    lend: (Output) -> Int32 = { _ in succeeded }
  ) -> Int32 {
    with(store) { engine in
      reporting(to: failure) { () throws(CacheError) in
        lend(try CallingThread.run { () async throws(CacheError) in try await call(engine) })
      }
    }
  }
}

/// Calls `body` and returns its code; if it throws, writes the error to `failure` and returns the error's code.
@inline(__always)
func reporting(to failure: Failure?, _ body: () throws(CacheError) -> Int32) -> Int32 {
  do throws(CacheError) { return try body() } catch { return error.write(to: failure) }
}

extension cachectl_engine {
  /// Sets the functions that open, inspect and remove a store.
  mutating func setPluginFunctions() {
    open = { configuration, store, failure in
      PluginExport.run(configuration, failure) { plugin, configuration async throws(CacheError) in
        try await plugin.open(configuration)
      } lend: { engine in
        store?.pointee = OpaquePointer(Unmanaged.passRetained(ExportedStore(engine)).toOpaque())
        return succeeded
      }
    }
    inspect = { configuration, visit, context, failure in
      PluginExport.run(configuration, failure) { plugin, configuration async throws(CacheError) in
        try await plugin.inspect(configuration)
      } lend: { found in
        lend([found.path, found.caution ?? ""] + found.files) { texts in
          let lent = cachectl_inspection(
            path: texts[0], exists: found.exists ? 1 : 0, files: texts.baseAddress.map { $0 + 2 },
            file_count: found.files.count, format: Int64(found.format ?? -1),
            current_format: Int64(found.currentFormat), caution: texts[1])
          return withUnsafePointer(to: lent) { visit?(context, $0) ?? succeeded }
        }
      }
    }
    remove = { configuration, suffix, moved, context, failure in
      let ending = suffix.map { String(cString: $0) }
      return PluginExport.run(configuration, failure) { plugin, configuration async throws(CacheError) in
        try await plugin.removeStore(configuration, movingAside: ending)
      } lend: { paths in
        visitAll(paths) { $0.lend(to: moved, context) }
      }
    }
  }

  /// Sets the functions of an open store; the optional ones if the engine has the capability.
  mutating func setStoreFunctions(_ capabilities: Set<EngineCapability>) {
    close = { store, failure in
      defer { if let store { Unmanaged<ExportedStore>.fromOpaque(UnsafeRawPointer(store)).release() } }
      return ExportedStore.run(store, failure) { engine async throws(CacheError) in try await engine.close() }
    }
    apply = { store, batch, failure in
      reporting(to: failure) { () throws(CacheError) in
        let changes = try batch.map { batch throws(CacheError) in try WriteBatch(batch.pointee) } ?? WriteBatch()
        return ExportedStore.run(store, failure) { engine async throws(CacheError) in try await engine.apply(changes) }
      }
    }
    compact = { store, failure in
      ExportedStore.run(store, failure) { engine async throws(CacheError) in try await engine.compact() }
    }
    if capabilities.contains(.countsChanges) {
      change_count = { store, number in
        ExportedStore.with(store) { engine in
          guard let count = try? engine.changeCount() else { return 0 }
          number?.pointee = count
          return 1
        }
      }
    }
    guard capabilities.contains(.followsChanges) else { return }
    change_mark = { store, key, number, age in
      ExportedStore.with(store) { engine in
        guard let mark = engine.changeMark(of: CacheKey(trusting: key.buffer.span)) else { return 0 }
        number?.pointee = mark.number
        // Rounded up: the engine must not seem to be sure of more than it is.
        age?.pointee = UInt64(clamping: (mark.age + .nanoseconds(999_999)).wholeMilliseconds)
        return 1
      }
    }
  }

  /// Sets the functions that read an open store.
  mutating func setReadingFunctions() {
    read = { store, key, visit, context, failure in
      ExportedStore.with(store) { engine in
        reporting(to: failure) { () throws(CacheError) in
          var status = succeeded
          let isFound = try engine.readNow(key.buffer.span) { payload, metadata in
            status = payload.withUnsafeBufferPointer { metadata.lend(key, cachectl_bytes($0), to: visit, context) }
          }
          return isFound == nil ? try readWaiting(engine, key, visit, context) : status
        }
      }
    }
    scan = { store, request, visit, next, context, failure in
      let request = ScanRequest(request?.pointee ?? cachectl_scan_request())
      return ExportedStore.run(store, failure) { engine async throws(CacheError) in
        try await engine.scan(request)
      } lend: { page in
        let status = visitAll(page.entries) { $0.lend(to: visit, context) }
        return status == succeeded ? page.next?.lend(to: next, context) ?? succeeded : status
      }
    }
    count = { store, visit, context, storageBytes, failure in
      ExportedStore.run(store, failure) { engine async throws(CacheError) in
        try await engine.count()
      } lend: { count in
        storageBytes?.pointee = UInt64(clamping: count.storageBytes)
        return visitAll(count.namespaces) { namespace, part in
          namespace.lend { namespace in
            let lent = cachectl_count(
              name_space: namespace, entries: UInt64(clamping: part.entries),
              payload_bytes: UInt64(clamping: part.payloadBytes), earliest_expiry: part.earliestExpiry.milliseconds)
            return withUnsafePointer(to: lent) { visit?(context, $0) ?? succeeded }
          }
        }
      }
    }
    check = { store, visit, context, failure in
      ExportedStore.run(store, failure) { engine async throws(CacheError) in
        try await engine.check()
      } lend: { issues in
        visitAll(issues) { $0.lend(to: visit, context) }
      }
    }
  }
}

/// Reads in a task. It copies the entry: an engine may lend it on any thread, but the host wants it on this one.
private func readWaiting(
  _ engine: any StorageEngine, _ key: cachectl_bytes, _ visit: cachectl_visit_entry?,
  _ context: UnsafeMutableRawPointer?
) throws(CacheError) -> Int32 {
  let ownKey = CacheKey(trusting: key.buffer.span)
  let entry = try CallingThread.run { () async throws(CacheError) in
    try await engine.read(ownKey) { payload, metadata in
      (payload: payload.withUnsafeBufferPointer { Array($0) }, metadata: metadata)
    }
  }
  guard let entry else { return succeeded }
  return entry.payload.withUnsafeBufferPointer { entry.metadata.lend(key, cachectl_bytes($0), to: visit, context) }
}
