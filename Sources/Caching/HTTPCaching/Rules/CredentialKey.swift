internal import Base
public import FetchVocabulary
internal import Synchronization

/// The secret key of the digests that stand for credentials in a store. Who sees a store, or a key of an entry, cannot
/// find a password by trying many without it.
public final class CredentialKey: Sendable {
  private let load: @Sendable () throws(CacheError) -> [UInt8]
  private let loaded = Mutex<Result<[UInt8], CacheError>?>(nil)

  /// A key that `load` returns, which is called for requests with credentials until it succeeds.
  public init(_ load: @escaping @Sendable () throws(CacheError) -> [UInt8]) {
    self.load = load
  }

  /// A random key that ends with the process. What is stored with it answers no later process.
  public static let ofProcess = CredentialKey { () throws(CacheError) in random() }

  /// The number of bytes of a key.
  package static let length = 32

  /// A new key.
  package static func random() -> [UInt8] {
    var generator = SystemRandomNumberGenerator()
    return (0..<length).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
  }

  /// Loads the key, if it is not loaded yet.
  ///
  /// - Throws: `CacheError`: it cannot be loaded. Digests are then made with `ofProcess`.
  package func require() throws(CacheError) { _ = try result.get() }

  /// The digest of `bytes`, as 64 hexadecimal digits.
  func digest(_ bytes: [UInt8]) -> String {
    guard case .success(let key) = result else { return Self.ofProcess.digest(bytes) }
    return SHA256.keyedHexText(bytes, key: key)
  }

  private var result: Result<[UInt8], CacheError> {
    loaded.withLock { loaded in
      if let loaded { return loaded }
      let result: Result<[UInt8], CacheError>
      do throws(CacheError) { result = .success(try load()) } catch { result = .failure(error) }
      // What failed once, such as a full disk, need not fail again.
      if case .success = result { loaded = result }
      return result
    }
  }
}

extension CredentialKey: Hashable {
  /// Whether both are the same object.
  public static func == (left: CredentialKey, right: CredentialKey) -> Bool { left === right }

  /// Hashes the identity of the object.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
