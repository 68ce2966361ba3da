public import Synchronization

/// Keeps idle resources, such as read transactions, for reuse by any task.
///
/// While it is in use a resource belongs to one caller alone. There are never more resources than calls were under way
/// at once. Cost of a use: two uncontended locks, no allocation. It is inlinable because looking up the metadata of
/// unspecialized generics would cost a read from memory more than the locks do.
public final class ResourcePool<Resource: AnyObject & Sendable>: Sendable {
  @usableFromInline struct State {
    @usableFromInline var idle: [Resource] = []
    @usableFromInline var isClosed = false

    @usableFromInline init() {}
  }

  @usableFromInline let state = Mutex(State())

  /// An empty pool.
  @inlinable public init() {}

  /// Calls `body` with an idle resource, or with one that `make` makes where all are in use. Afterwards the resource is
  /// idle again, unless `body` threw: then it is let go, because nobody knows in what state it is.
  ///
  /// - Throws: what `make` and `body` throw; `StorageError` with the code `closed` after `close()`.
  @inlinable @inline(__always)
  public func withResource<Output>(
    make: () throws(StorageError) -> Resource, _ body: (Resource) throws(StorageError) -> Output
  ) throws(StorageError) -> Output {
    let resource = if let idle = try take() { idle } else { try make() }
    let output = try body(resource)
    state.withLock { if !$0.isClosed { $0.idle.append(resource) } }
    return output
  }

  /// Lets go of all idle resources: what is used next is made anew.
  @inlinable public func removeIdle() {
    let idle = state.withLock { state in
      defer { state.idle = [] }
      return state.idle
    }
    _ = idle  // Released here, outside the lock.
  }

  /// Lets go of all idle resources, and from now on of each that comes out of use.
  @inlinable public func close() {
    state.withLock { $0.isClosed = true }
    removeIdle()
  }

  @inlinable func take() throws(StorageError) -> Resource? {
    let (resource, isClosed) = state.withLock { ($0.idle.popLast(), $0.isClosed) }
    if isClosed { throw .storeClosed }
    return resource
  }
}
