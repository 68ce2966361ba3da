internal import CachePresentation
public import FetchVocabulary
public import CacheCore
internal import PayloadTransforms
internal import CacheBase

/// The section `transforms.NAME` of a payload transform, which `cache.transforms` names.
///
/// A transform is one such type in the list of the program:
///
///     struct MirroredSettings: TransformSettings {
///       static let path = "transforms.mirrored"
///       init(_ keys: inout SectionReader) {}
///       func makeTransform() throws(CacheError) -> any PayloadTransform { MirroredTransform() }
///     }
public protocol TransformSettings: ConfigurationSection {
  /// Makes the transform, whose name is the last one of `path`.
  ///
  /// - Throws: `CacheError`, which names the missing setting.
  func makeTransform() throws(CacheError) -> any PayloadTransform

  /// Whether entries that lack the transform are refused while entries are written with it. The default is `false`.
  var isRequired: Bool { get }
}

extension TransformSettings {
  /// `false`: entries that lack the transform are served.
  public var isRequired: Bool { false }
}

/// The prefix of the paths of transforms' sections.
let transformsPrefix = "transforms."

extension [any TransformSettings.Type] {
  /// The transforms that are built in: a new one is one more line.
  public static var standard: Self { [ZstdSettings.self, SealedSettings.self] }
}

/// The keys of `transforms.zstd`.
struct ZstdSettings: TransformSettings {
  static let path = "transforms.zstd"

  let level: Int

  init(_ keys: inout SectionReader) {
    level = keys.integer(
      "level", default: ZstdTransform.defaultLevel,
      in: Int64(ZstdTransform.levels.lowerBound)...Int64(ZstdTransform.levels.upperBound),
      help: "the compression level: a higher one is slower to write, and not slower to read")
  }

  func makeTransform() throws(CacheError) -> any PayloadTransform { try ZstdTransform(level: level) }
}

/// The keys of `transforms.sealed`.
struct SealedSettings: TransformSettings {
  static let path = "transforms.sealed"

  let key: Secret?
  let keys: [Secret]?
  let isRequired: Bool

  init(_ keys: inout SectionReader) {
    key = keys.secret("key", help: "the key that seals payloads: 32 bytes in hexadecimal digits or base 64")
    self.keys = keys.secrets(
      "keys",
      help: "several keys instead of key: the first one seals, and each opens the entries that it sealed")
    isRequired = keys.boolean(
      "required", default: true,
      help: "whether an entry that is not sealed is refused; set it to false until all entries are sealed")
  }

  func makeTransform() throws(CacheError) -> any PayloadTransform {
    if key != nil, keys != nil {
      throw CacheError(
        .invalidOption, "the transform 'sealed' has both 'key' and 'keys'",
        hint: "move the key into the list 'keys', the one to seal with first")
    }
    guard let secrets = keys ?? key.map({ [$0] }) else {
      throw CacheError(
        .invalidOption, "there is no key for the transform 'sealed'",
        hint: "name the variable that holds it: \"transforms\": {\"sealed\": {\"key\": {\"env\": \"NAME\"}}}")
    }
    var texts: [String] = []
    for secret in secrets { texts.append(try Self.text(of: secret)) }
    return try SealedTransform(keys: texts, required: isRequired)
  }

  /// The key in `secret`, which is one.
  private static func text(of secret: Secret) throws(CacheError) -> String {
    let text: String
    do throws(ConfigurationError) {
      text = try secret.reveal()
    } catch {
      throw CacheError(.invalidOption, error.message, hint: error.hint)
    }
    do throws(CacheError) { _ = try SealedTransform(key: text) } catch {
      guard error.code == .invalidOption else { throw error }
      throw CacheError(.invalidOption, "\(secret.variable): \(error.message)", hint: error.hint)
    }
    return text
  }
}

extension Configuration {
  /// The transforms of the store: it is written with the ones in `cache.transforms`, and read with any of `known`.
  ///
  /// One that lacks a setting, such as its key, fails when an entry needs it: a store can be listed, verified and exported
  /// without. The first of them is the problem that keeps entries from being written.
  func transforms(_ known: [any TransformSettings.Type]) -> (EntryTransforms, problem: CacheError?) {
    let settings: @Sendable (String) -> (any TransformSettings)? = { name in
      known.first { $0.path == transformsPrefix + name }.map { self.section($0) }
    }
    var written: [any PayloadTransform] = []
    var problem: CacheError?
    for name in cache.transforms {
      guard let settings = settings(name) else { continue }
      do throws(CacheError) { written.append(try settings.makeTransform()) } catch {
        problem = problem ?? error
        written.append(UnavailableTransform(name: name, isRequired: settings.isRequired, reason: error))
      }
    }
    let transforms = EntryTransforms(written, maxEntryBytes: cache.maxEntryBytes) { name throws(CacheError) in
      try settings(name)?.makeTransform()
    }
    return (transforms, problem)
  }
}

/// Takes the place of a transform that cannot be made.
private struct UnavailableTransform: PayloadTransform {
  let name: String
  let isRequired: Bool
  let reason: CacheError
  /// It might be one that hides: nothing is written in the clear in its place.
  var hidesContent: Bool { true }

  func encode(
    _ bytes: Span<UInt8>, _ context: TransformContext
  ) throws(CacheError) -> (bytes: [UInt8], parameter: String)? { throw reason }

  func decode(
    _ bytes: Span<UInt8>, parameter: String, _ context: TransformContext
  ) throws(CacheError) -> [UInt8] { throw reason }
}
