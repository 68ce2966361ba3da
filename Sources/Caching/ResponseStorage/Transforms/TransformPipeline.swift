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
  /// The names of the transforms that no entry may lack.
  private let required: [String]
  private let state = Mutex(State())

  init(_ transforms: EntryTransforms) {
    self.transforms = transforms
    required = transforms.written.filter { $0.hidesContent && $0.isRequired }.map(\.name)
  }

  /// Whether entries are written with a transform.
  var changesWrites: Bool { !transforms.written.isEmpty }

  /// Whether entries are served that are stored without transforms.
  var servesPlain: Bool { required.isEmpty }

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
    var (payload, steps, used, tag) = (payload, [TransformStep](), [LoadedDictionary](), ArraySlice<UInt8>())
    for transform in transforms {
      let dictionary = dictionaries[transform.name]
      let context = context(.payload, of: key, dictionary?.dictionary)
      guard let output = try transform.encode(payload.span, context) else { continue }
      try Self.require(parameter: output.parameter, of: transform)
      payload = output.bytes
      if transform.tagBytes > 0 { tag = payload.suffix(transform.tagBytes) }
      steps.append(TransformStep(transform.name, parameter: output.parameter, dictionary: dictionary?.name.identifier))
      if let dictionary { used.append(dictionary) }
    }
    let seal = EntrySeal(freshUntil: metadata.freshUntil, tag: EntrySeal.text(tag))
    let recorded = try recorded(metadata, steps, seal, key: key, hidingBy: transforms.filter(\.hidesContent))
    guard let recorded else {
      throw CacheError(
        .failed, "a transform does not hide attributes as it hides their entry",
        hint: "return bytes and the same parameter from each call for an entry")
    }
    return (payload, recorded, used)
  }

  /// The entry under `key` as it is stored, with `metadata` in place of its own: a hidden payload stays as it is, and
  /// only the metadata is hidden again. `nil` if the entry would be written in another way now.
  ///
  /// - Throws: `CacheError`: what a transform throws.
  func renewed(
    _ payload: Span<UInt8>, _ stored: EntryMetadata, as metadata: EntryMetadata, key: CacheKey,
    _ dictionaries: [String: LoadedDictionary]
  ) throws(CacheError) -> Encoded? {
    guard let steps = stored.transformSteps, let old = stored.seal else { return nil }
    let names = Set(steps.map(\.name))
    guard hiding.allSatisfy({ names.contains($0.name) }), dictionaries.keys.allSatisfy(names.contains),
      steps.allSatisfy({ step in
        transforms.written.contains { $0.name == step.name }
          && step.dictionary == dictionaries[step.name]?.name.identifier
      })
    else { return nil }
    let seal = EntrySeal(freshUntil: metadata.freshUntil, tag: old.tag)
    guard let recorded = try recorded(metadata, steps, seal, key: key, hidingBy: hiding) else { return nil }
    return (payload.withUnsafeBufferPointer { Array($0) }, recorded, Array(dictionaries.values))
  }

  /// `metadata` with the record of `steps`. If `transforms` hide the payload, they also hide the attributes, and prove
  /// the rest of the metadata. `nil` if they do not hide attributes as `steps` have hidden the payload: the steps are all
  /// that reading has.
  private func recorded(
    _ metadata: EntryMetadata, _ steps: [TransformStep], _ seal: EntrySeal, key: CacheKey,
    hidingBy transforms: [any PayloadTransform]
  ) throws(CacheError) -> EntryMetadata? {
    var metadata = metadata.withoutRecord
    if !steps.isEmpty {
      metadata.attributes[EntryMetadata.transformsName] = steps.map(\.text).joined(separator: " ")
    }
    guard !transforms.isEmpty else { return metadata }
    let hidden = metadata.attributes.filter { !EntryMetadata.isAlwaysReadable(attribute: $0.key) }
    metadata.attributes = metadata.attributes.filter { hidden[$0.key] == nil }
    metadata.attributes[EntryMetadata.sealName] = seal.text
    var bytes = AttributeBlock.bytes(hidden)
    let context = context(.attributes, of: key, authenticated: metadata.authenticatedBytes)
    for transform in transforms {
      guard let output = try transform.encode(bytes.span, context),
        steps.contains(where: { $0.name == transform.name && $0.parameter == output.parameter })
      else { return nil }
      bytes = output.bytes
    }
    metadata.attributes[EntryMetadata.hiddenName] = String(decoding: Base64.encoded(bytes), as: UTF8.self)
    return metadata
  }

  /// Undoes the transforms of the entry under `key`, whose checksum has been verified.
  ///
  /// - Throws: `CacheError`: `damaged` if the payload cannot be what a transform made, or the store has not got the
  ///   dictionary; `wrongKey`; `unsupported` if a transform is not set up.
  func decoded(_ payload: Span<UInt8>, _ metadata: EntryMetadata, key: CacheKey) throws(CacheError) -> [UInt8] {
    try undo(try undoings(of: metadata, key)[...], payload, metadata, key)
  }

  private func undo(
    _ undoings: ArraySlice<Undoing>, _ payload: Span<UInt8>, _ metadata: EntryMetadata, _ key: CacheKey
  ) throws(CacheError) -> [UInt8] {
    var (bytes, isTagKnown) = ([UInt8]?.none, false)
    for undoing in undoings {
      let (transform, context) = (undoing.transform, context(.payload, of: key, undoing.dictionary))
      // The last transform that was applied gave the tag.
      if transform.tagBytes > 0, !isTagKnown {
        let tag = bytes?.suffix(transform.tagBytes) ?? Self.suffix(of: payload, transform.tagBytes)
        guard metadata.seal?.tag == EntrySeal.text(tag) else { throw Self.forged(key) }
        isTagKnown = true
      }
      if let done = bytes {
        bytes = try transform.decode(done.span, parameter: undoing.parameter, context)
      } else {
        bytes = try transform.decode(payload, parameter: undoing.parameter, context)
      }
    }
    return bytes ?? payload.withUnsafeBufferPointer { Array($0) }
  }

  /// Makes sure that the entry under `key`, whose checksum has been verified, was written by a cache with the same key:
  /// it lacks no required transform, and the transforms that hide it prove that it is unchanged. Needs no dictionaries.
  ///
  /// - Throws: `CacheError`: `notSealed`; `damaged` if it was changed; `wrongKey`; `unsupported` or `invalidOption` if a
  ///   transform is not set up.
  func authenticate(_ payload: Span<UInt8>, _ metadata: EntryMetadata, key: CacheKey) throws(CacheError) {
    let undoings = try undoings(of: metadata, key, withDictionaries: false)
    guard let last = undoings.lastIndex(where: \.transform.hidesContent) else { return }
    _ = try undo(undoings[...last], payload, metadata, key)
    _ = try revealed(metadata, undoings, key)
  }

  /// The payload and the metadata of the entry under `key` as they were before its transforms. Its checksum has been
  /// verified. Not generic, and without a closure: entries without transforms must not pay for it.
  ///
  /// - Throws: `CacheError`, as `decoded(_:_:key:)` does.
  func opened(
    _ payload: Span<UInt8>, _ metadata: EntryMetadata, key: CacheKey
  ) throws(CacheError) -> (payload: [UInt8], metadata: EntryMetadata) {
    let undoings = try undoings(of: metadata, key)
    return (try undo(undoings[...], payload, metadata, key), try revealed(metadata, undoings, key))
  }

  /// The metadata of the entry under `key` as it was before the transforms, with the checksum of what is stored.
  ///
  /// - Throws: `CacheError`, as `decoded(_:_:key:)` does.
  func revealed(_ stored: EntryMetadata, key: CacheKey) throws(CacheError) -> EntryMetadata {
    // Only payloads need dictionaries.
    try revealed(stored, try undoings(of: stored, key, withDictionaries: false), key)
  }

  private func revealed(
    _ stored: EntryMetadata, _ undoings: [Undoing], _ key: CacheKey
  ) throws(CacheError) -> EntryMetadata {
    var metadata = stored
    if stored.attributes.count == 1, stored.transforms != nil {
      metadata.attributes = [:]  // Without a copy.
    } else {
      metadata = stored.withoutRecord
    }
    guard undoings.contains(where: \.transform.hidesContent) else { return metadata }
    guard let text = stored.hidden, let seal = stored.seal, var bytes = Base64.decoded(Array(text.utf8)) else {
      throw Self.damagedAttributes(of: key)
    }
    let context = context(.attributes, of: key, authenticated: stored.authenticatedBytes)
    for undoing in undoings where undoing.transform.hidesContent {
      bytes = try undoing.transform.decode(bytes.span, parameter: undoing.parameter, context)
    }
    guard stored.freshUntil <= seal.freshUntil else { throw Self.forged(key) }
    guard let hidden = AttributeBlock.attributes(bytes) else { throw Self.damagedAttributes(of: key) }
    metadata.attributes.merge(hidden) { $1 }
    return metadata
  }

  /// The context of `part` of the entry under `key`.
  func context(
    _ part: TransformContext.Part, of key: CacheKey, _ dictionary: (any TransformDictionary)? = nil,
    authenticated: [UInt8] = []
  ) -> TransformContext {
    TransformContext(
      key: key, part: part, dictionary: dictionary, maxEntryBytes: transforms.maxEntryBytes,
      authenticated: authenticated)
  }

  private static func suffix(of bytes: Span<UInt8>, _ count: Int) -> ArraySlice<UInt8> {
    bytes.withUnsafeBufferPointer { Array($0.suffix(count))[...] }
  }

  private static func forged(_ key: CacheKey) -> CacheError {
    CacheError(
      .damaged, "entry \(key) is not authentic: its payload or a time was changed after it was sealed", key: key.text)
  }

  private static func damagedAttributes(of key: CacheKey) -> CacheError {
    CacheError(.damaged, "entry \(key) is damaged: its attributes are not what was written", key: key.text)
  }

  /// What to undo for the entry under `key`, in order. Without `withDictionaries` it does not load dictionaries.
  private func undoings(
    of metadata: EntryMetadata, _ key: CacheKey, withDictionaries: Bool = true
  ) throws(CacheError) -> [Undoing] {
    guard let text = metadata.transforms else {
      try requireAll(of: [], key)
      return []
    }
    let alike = Alike(namespace: key.namespace, text: text)
    if let undoings = state.withLock({ $0.undoings[alike] }) { return undoings }
    var undoings: [Undoing] = []
    guard let steps = metadata.transformSteps else { throw Self.damagedAttributes(of: key) }
    let isComplete = try requireAll(of: steps, key)
    for step in steps.reversed() {
      let transform = try transform(step, of: key)
      let dictionary: (any TransformDictionary)? =
        if withDictionaries, let identifier = step.dictionary {
          try dictionary(identifier, of: step, for: key)
        } else { nil }
      undoings.append(Undoing(transform: transform, parameter: step.parameter, dictionary: dictionary))
    }
    guard isComplete, withDictionaries || steps.allSatisfy({ $0.dictionary == nil }) else { return undoings }
    state.withLock { [undoings] state in
      if state.undoings.count >= Self.maximumUndoings { state.undoings = [:] }
      state.undoings[alike] = undoings
    }
    return undoings
  }

  /// Makes sure that `steps` lack no required transform, and returns `true`. For leases, `false` if they do: they are in
  /// the clear, so that processes without the key can wait for a flight too, and no value is made from them.
  ///
  /// - Throws: `CacheError` with the code `notSealed`.
  @discardableResult
  private func requireAll(of steps: [TransformStep], _ key: CacheKey) throws(CacheError) -> Bool {
    guard let name = required.first(where: { name in !steps.contains { $0.name == name } }) else { return true }
    if key.namespace == Lease.namespace, TransformDictionaryName(key) == nil { return false }
    throw CacheError(
      .notSealed, "entry \(key) is not sealed: it was written without the required transform '\(name)'",
      hint: "remove the entry, or set 'required' of the transform to false while entries from before are in use",
      key: key.text)
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
