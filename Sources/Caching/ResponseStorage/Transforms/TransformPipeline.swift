internal import FetchVocabulary
internal import StorageSPI
internal import Synchronization

/// Applies the transforms of a store to its entries, and undoes them.
final class TransformPipeline: Sendable {
  /// One transform to undo, with what it was applied with.
  private struct Undoing: Sendable {
    let transform: any PayloadTransform
    let parameter: String
    let dictionary: (any TransformDictionary)?
  }

  /// What entries have in common whose transforms are undone in the same way.
  private struct Alike: Hashable {
    let namespace: String
    /// What their metadata says about transforms.
    let text: String
  }

  private struct State {
    /// The transforms found by their names so far.
    var transforms: [String: any PayloadTransform] = [:]
    /// What to undo, in order, for entries that were read: looking for it would take as long as small pages take.
    var undoings: [Alike: [Undoing]] = [:]
    var dictionaries: [TransformDictionaryName: any TransformDictionary] = [:]
    var choices: [TransformDictionaryName.Scope: DictionaryChoice] = [:]
  }

  /// For how many different entries to remember what to undo.
  private static let maximumUndoings = 64

  let transforms: EntryTransforms
  private let state = Mutex(State())

  init(_ transforms: EntryTransforms) { self.transforms = transforms }

  /// Whether entries are written with a transform.
  var changesWrites: Bool { !transforms.written.isEmpty }

  /// The transforms that dictionaries are written with.
  var hiding: [any PayloadTransform] { transforms.written.filter(\.hidesContent) }

  /// An entry to be stored, and the dictionaries that it needs.
  typealias Encoded = (payload: [UInt8], metadata: EntryMetadata, dictionaries: [LoadedDictionary])

  /// Applies the transforms to an entry. `dictionaries` has the dictionary for each transform that takes one.
  ///
  /// - Throws: `CacheError`: what a transform throws.
  func encoded(
    _ payload: [UInt8], _ metadata: EntryMetadata, key: CacheKey, with transforms: [any PayloadTransform],
    _ dictionaries: [String: LoadedDictionary] = [:]
  ) throws(CacheError) -> Encoded {
    var (payload, metadata, steps, used) = (payload, metadata, [TransformStep](), [LoadedDictionary]())
    for transform in transforms {
      let dictionary = dictionaries[transform.name]
      let context = context(.payload, of: key, dictionary?.dictionary)
      guard let output = try transform.encode(payload.span, context) else { continue }
      try Self.require(parameter: output.parameter, of: transform)
      payload = output.bytes
      steps.append(TransformStep(transform.name, parameter: output.parameter, dictionary: dictionary?.name.identifier))
      if let dictionary { used.append(dictionary) }
    }
    metadata.attributes[EntryMetadata.transformsName] = nil
    let hiding = transforms.filter(\.hidesContent)
    if !hiding.isEmpty { try hideAttributes(of: &metadata, key: key, by: hiding, as: steps) }
    if !steps.isEmpty {
      metadata.attributes[EntryMetadata.transformsName] = steps.map(\.text).joined(separator: " ")
    }
    return (payload, metadata, used)
  }

  /// Hides attributes as `steps` have hidden the payload: what they say is all that reading them has.
  private func hideAttributes(
    of metadata: inout EntryMetadata, key: CacheKey, by transforms: [any PayloadTransform], as steps: [TransformStep]
  ) throws(CacheError) {
    let hidden = metadata.attributes.filter { !EntryMetadata.isAlwaysReadable(attribute: $0.key) }
    guard !hidden.isEmpty else { return }
    var bytes = AttributeBlock.bytes(hidden)
    let context = context(.attributes, of: key)
    for transform in transforms {
      guard let output = try transform.encode(bytes.span, context),
        steps.contains(where: { $0.name == transform.name && $0.parameter == output.parameter })
      else {
        throw CacheError(
          .failed, "the transform '\(transform.name)' does not hide attributes as it hides their entry",
          hint: "return bytes and the same parameter from each call for an entry")
      }
      bytes = output.bytes
    }
    metadata.attributes = metadata.attributes.filter { hidden[$0.key] == nil }
    metadata.attributes[EntryMetadata.hiddenName] = String(decoding: Base64.encoded(bytes), as: UTF8.self)
  }

  /// Undoes the transforms of the entry under `key`, whose checksum has been verified.
  ///
  /// - Throws: `CacheError`: `damaged` if the payload cannot be what a transform made, or the store has not got the
  ///   dictionary; `wrongKey`; `unsupported` if a transform is not set up.
  func decoded(_ payload: Span<UInt8>, _ metadata: EntryMetadata, key: CacheKey) throws(CacheError) -> [UInt8] {
    var bytes: [UInt8]?
    for undoing in try undoings(of: metadata, key) {
      let context = context(.payload, of: key, undoing.dictionary)
      if let done = bytes {
        bytes = try undoing.transform.decode(done.span, parameter: undoing.parameter, context)
      } else {
        bytes = try undoing.transform.decode(payload, parameter: undoing.parameter, context)
      }
    }
    return bytes ?? payload.withUnsafeBufferPointer { Array($0) }
  }

  /// The metadata of the entry under `key` as it was before the transforms, with the checksum of what is stored.
  ///
  /// - Throws: `CacheError`, as `decoded(_:_:key:)` does.
  func revealed(_ stored: EntryMetadata, key: CacheKey) throws(CacheError) -> EntryMetadata {
    var metadata = stored
    if stored.attributes.count == 1, stored.transforms != nil {
      metadata.attributes = [:]  // Without a copy.
      return metadata
    }
    metadata.attributes[EntryMetadata.transformsName] = nil
    guard let text = metadata.attributes.removeValue(forKey: EntryMetadata.hiddenName) else { return metadata }
    guard var bytes = Base64.decoded(Array(text.utf8)) else { throw Self.damagedAttributes(of: key) }
    let context = context(.attributes, of: key)
    // Only payloads need dictionaries.
    for undoing in try undoings(of: stored, key, withDictionaries: false) where undoing.transform.hidesContent {
      bytes = try undoing.transform.decode(bytes.span, parameter: undoing.parameter, context)
    }
    guard let hidden = AttributeBlock.attributes(bytes) else { throw Self.damagedAttributes(of: key) }
    metadata.attributes.merge(hidden) { $1 }
    return metadata
  }

  /// The context of `part` of the entry under `key`.
  func context(
    _ part: TransformContext.Part, of key: CacheKey, _ dictionary: (any TransformDictionary)? = nil
  ) -> TransformContext {
    TransformContext(key: key, part: part, dictionary: dictionary, maxEntryBytes: transforms.maxEntryBytes)
  }

  private static func damagedAttributes(of key: CacheKey) -> CacheError {
    CacheError(.damaged, "entry \(key) is damaged: its attributes are not what was written", key: key.text)
  }

  /// What to undo for the entry under `key`, in order. Without `withDictionaries` it does not load dictionaries.
  private func undoings(
    of metadata: EntryMetadata, _ key: CacheKey, withDictionaries: Bool = true
  ) throws(CacheError) -> [Undoing] {
    guard let text = metadata.transforms else { return [] }
    let alike = Alike(namespace: key.namespace, text: text)
    if let undoings = state.withLock({ $0.undoings[alike] }) { return undoings }
    var undoings: [Undoing] = []
    guard let steps = metadata.transformSteps else { throw Self.damagedAttributes(of: key) }
    for step in steps.reversed() {
      let transform = try transform(step, of: key)
      let dictionary: (any TransformDictionary)? =
        if withDictionaries, let identifier = step.dictionary {
          try dictionary(identifier, of: step, for: key)
        } else { nil }
      undoings.append(Undoing(transform: transform, parameter: step.parameter, dictionary: dictionary))
    }
    guard withDictionaries || steps.allSatisfy({ $0.dictionary == nil }) else { return undoings }
    state.withLock { [undoings] state in
      if state.undoings.count >= Self.maximumUndoings { state.undoings = [:] }
      state.undoings[alike] = undoings
    }
    return undoings
  }

  private static func require(parameter: String, of transform: any PayloadTransform) throws(CacheError) {
    guard !TransformStep.isParameter(parameter) else { return }
    throw CacheError(
      .failed, "the transform '\(transform.name)' has a parameter that cannot be kept: '\(parameter)'",
      hint: "return up to 64 letters and digits as its parameter")
  }

  private func transform(_ step: TransformStep, of key: CacheKey) throws(CacheError) -> any PayloadTransform {
    if let transform = state.withLock({ $0.transforms[step.name] }) { return transform }
    do throws(CacheError) {
      let transform = try transforms.transform(step.name)
      state.withLock { $0.transforms[step.name] = transform }
      return transform
    } catch {
      throw CacheError(
        error.code, "entry \(key) was written with the transform '\(step.name)': \(error.message)", hint: error.hint,
        key: key.text, cause: error)
    }
  }
}

/// The dictionaries that are loaded, and the one that each namespace is written with.
extension TransformPipeline {
  private func dictionary(
    _ identifier: String, of step: TransformStep, for key: CacheKey
  ) throws(CacheError) -> any TransformDictionary {
    let name = TransformDictionaryName(.init(namespace: key.namespace, transform: step.name), identifier: identifier)
    if let dictionary = state.withLock({ $0.dictionaries[name] }) { return dictionary }
    throw CacheError(
      .damaged,
      "entry \(key) cannot be read: the store has not got the dictionary that it was written with, \(identifier)",
      hint: "import it from an export of the store, or remove the entry", key: key.text)
  }

  /// The dictionaries that the entry under `key` needs and that are not loaded.
  func missingDictionaries(_ metadata: EntryMetadata, key: CacheKey) -> [TransformDictionaryName] {
    metadata.dictionaryNames(for: key).filter { loaded($0) == nil }
  }

  func loaded(_ name: TransformDictionaryName) -> (any TransformDictionary)? {
    state.withLock { $0.dictionaries[name] }
  }

  /// Prepares `bytes`, the content of the dictionary `name`, for use.
  func load(
    _ name: TransformDictionaryName, _ bytes: [UInt8]
  ) throws(CacheError) -> any TransformDictionary {
    guard name.identifier == TransformDictionaryName.identifier(of: bytes) else {
      throw CacheError(.damaged, "the dictionary \(name.identifier) has another content")
    }
    let dictionary = try transforms.transform(name.scope.transform).prepare(bytes)
    state.withLock { $0.dictionaries[name] = dictionary }
    return dictionary
  }

  /// The choice of a dictionary for `scope`, if it is recent enough at `now`.
  func choice(_ scope: TransformDictionaryName.Scope, at now: Timestamp) -> DictionaryChoice? {
    state.withLock { $0.choices[scope] }.flatMap { $0.isRecent(at: now) ? $0 : nil }
  }

  /// Forgets all dictionaries and choices.
  func forgetDictionaries() {
    state.withLock { state in (state.dictionaries, state.choices, state.undoings) = ([:], [:], [:]) }
  }

  func note(_ choice: DictionaryChoice, for scope: TransformDictionaryName.Scope) {
    state.withLock { $0.choices[scope] = choice }
  }
}
