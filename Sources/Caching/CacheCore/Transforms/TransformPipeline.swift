internal import FetchVocabulary
internal import StorageSPI
internal import Synchronization

/// Applies the transforms of a store to its entries, and undoes them.
final class TransformPipeline: Sendable {
  /// One transform to undo, with what it was applied with.
  private struct Undoing: Sendable {
    let transform: any PayloadTransform
    let parameter: String
  }

  private struct State {
    /// The transforms found by their names so far.
    var transforms: [String: any PayloadTransform] = [:]
    /// What to undo, in order, by what the metadata of entries that were read says about transforms: looking for it would
    /// take as long as small pages take.
    var undoings: [String: [Undoing]] = [:]
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

  /// Whether entries are served that are stored without transforms.
  var servesPlain: Bool { required.isEmpty }

  /// The transforms that hide entries.
  var hiding: [any PayloadTransform] { transforms.written.filter(\.hidesContent) }

  /// An entry to be stored, whose checksum is not computed yet.
  typealias Encoded = (payload: [UInt8], metadata: EntryMetadata)

  /// Applies `transforms` to an entry.
  ///
  /// - Throws: `CacheError`: what a transform throws.
  func encoded(
    _ payload: [UInt8], _ metadata: EntryMetadata, key: CacheKey, with transforms: [any PayloadTransform]
  ) throws(CacheError) -> Encoded {
    var (payload, metadata) = (payload, metadata)
    var steps: [TransformStep] = []
    var tag: ArraySlice<UInt8> = []
    let context = context(.payload, of: key)
    for transform in transforms {
      guard let output = try transform.encode(payload.span, context) else { continue }
      try Self.require(parameter: output.parameter, of: transform)
      payload = output.bytes
      if transform.tagBytes > 0 { tag = payload.suffix(transform.tagBytes) }
      steps.append(TransformStep(transform.name, parameter: output.parameter))
    }
    metadata.payloadChecksum = EntryMetadata.computedPayloadChecksum(payload.span)
    if transforms.isEmpty { return (payload, metadata) }
    let recorded = try recorded(
      metadata, steps, tag: Self.text(tag), key: key, hidingBy: transforms.filter(\.hidesContent))
    guard let recorded else {
      throw CacheError(
        .failed, "a transform does not hide attributes as it hides their entry",
        hint: "return bytes and the same parameter from each call for an entry")
    }
    return (payload, recorded)
  }

  /// The metadata for the payload of `stored`, with its checksum, if `metadata` takes the place of what `stored` says: the
  /// payload stays as it is, and only the metadata is hidden and sealed again. `nil` if the entry would be written in
  /// another way now.
  ///
  /// The seal of the payload binds it to its key, and its tag is in the seal of the metadata. So this needs no payload, but
  /// a proof that the tag is what was written: the present metadata is opened.
  ///
  /// - Throws: `CacheError`: what a transform throws, and as `revealed(_:key:)` does.
  func renewed(
    _ stored: EntryMetadata, as metadata: EntryMetadata, key: CacheKey
  ) throws(CacheError) -> EntryMetadata? {
    guard let steps = stored.transformSteps,
      hiding.allSatisfy({ transform in steps.contains { $0.name == transform.name } }),
      steps.allSatisfy({ step in transforms.written.contains { $0.name == step.name } })
    else { return nil }
    var renewed = metadata
    renewed.payloadChecksum = stored.payloadChecksum
    if !steps.isEmpty {
      _ = try revealed(stored, key: key)
      let recorded = try recorded(renewed, steps, tag: stored.seal?.tag ?? "", key: key, hidingBy: hiding)
      guard let recorded else { return nil }
      renewed = recorded
    }
    renewed.checksum = renewed.computedChecksum(key: key)
    return renewed
  }

  /// `metadata` with the record of `steps`. If `transforms` hide the payload, they also hide the attributes, and prove
  /// the rest of the metadata. `nil` if they do not hide attributes as `steps` have hidden the payload: the steps are all
  /// that reading has.
  private func recorded(
    _ metadata: EntryMetadata, _ steps: [TransformStep], tag: String, key: CacheKey,
    hidingBy transforms: [any PayloadTransform]
  ) throws(CacheError) -> EntryMetadata? {
    var metadata = metadata.withoutRecord
    if !steps.isEmpty {
      metadata.attributes[EntryMetadata.transformsName] = steps.map(\.text).joined(separator: " ")
    }
    guard !transforms.isEmpty else { return metadata }
    let hidden = metadata.attributes.filter { !EntryMetadata.isAlwaysReadable(attribute: $0.key) }
    metadata.attributes = metadata.attributes.filter { hidden[$0.key] == nil }
    metadata.attributes[EntryMetadata.sealName] = "\(metadata.freshUntil.milliseconds) \(tag)"
    var bytes = AttributeBlock.bytes(hidden)
    let context = context(.attributes, of: key, authenticated: metadata.authenticatedBytes)
    for transform in transforms {
      guard let output = try transform.encode(bytes.span, context),
        steps.contains(where: { $0.name == transform.name && $0.parameter == output.parameter })
      else { return nil }
      bytes = output.bytes
    }
    metadata.attributes[EntryMetadata.hiddenName] = Self.text(bytes[...])
    return metadata
  }

  private func undo(
    _ undoings: ArraySlice<Undoing>, _ payload: Span<UInt8>, _ metadata: EntryMetadata, _ key: CacheKey
  ) throws(CacheError) -> [UInt8] {
    var bytes: [UInt8]?
    var isTagKnown = false
    let context = context(.payload, of: key)
    for undoing in undoings {
      let transform = undoing.transform
      // The last transform that was applied gave the tag.
      if transform.tagBytes > 0, !isTagKnown {
        let tag = bytes?.suffix(transform.tagBytes) ?? Self.suffix(of: payload, transform.tagBytes)
        guard metadata.seal?.tag == Self.text(tag) else { throw Self.forged(key) }
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
  /// it lacks no required transform, and the transforms that hide it prove that it is unchanged.
  ///
  /// - Throws: `CacheError`: `notSealed`; `damaged` if it was changed; `wrongKey`; `unsupported` or `invalidOption` if a
  ///   transform is not set up.
  func authenticate(_ payload: Span<UInt8>, _ metadata: EntryMetadata, key: CacheKey) throws(CacheError) {
    let undoings = try undoings(of: metadata, key)
    guard let last = undoings.lastIndex(where: \.transform.hidesContent) else { return }
    _ = try undo(undoings[...last], payload, metadata, key)
    _ = try revealed(metadata, undoings, key)
  }

  /// The payload and the metadata of the entry under `key` as they were before its transforms. Its checksum has been
  /// verified. Not generic, and without a closure: entries without transforms must not pay for it.
  ///
  /// - Throws: `CacheError`: `damaged` if the payload cannot be what a transform made, or the entry was changed after it
  ///   was sealed; `wrongKey`; `notSealed`; `unsupported` if a transform is not set up.
  func opened(
    _ payload: Span<UInt8>, _ metadata: EntryMetadata, key: CacheKey
  ) throws(CacheError) -> (payload: [UInt8], metadata: EntryMetadata) {
    let undoings = try undoings(of: metadata, key)
    return (try undo(undoings[...], payload, metadata, key), try revealed(metadata, undoings, key))
  }

  /// The metadata of the entry under `key` as it was before the transforms, with the checksum of what is stored.
  ///
  /// - Throws: `CacheError`, as `opened(_:_:key:)` does.
  func revealed(_ stored: EntryMetadata, key: CacheKey) throws(CacheError) -> EntryMetadata {
    try revealed(stored, try undoings(of: stored, key), key)
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
    _ part: TransformContext.Part, of key: CacheKey, authenticated: [UInt8] = []
  ) -> TransformContext {
    TransformContext(
      key: key, part: part, maxEntryBytes: transforms.maxEntryBytes, authenticated: authenticated)
  }

  private static func text(_ bytes: ArraySlice<UInt8>) -> String {
    String(decoding: Base64.encoded(Array(bytes)), as: UTF8.self)
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

  /// What to undo for the entry under `key`, in order.
  private func undoings(of metadata: EntryMetadata, _ key: CacheKey) throws(CacheError) -> [Undoing] {
    guard let text = metadata.transforms else {
      try requireAll(of: [], key)
      return []
    }
    if let undoings = state.withLock({ $0.undoings[text] }) { return undoings }
    var undoings: [Undoing] = []
    guard let steps = metadata.transformSteps else { throw Self.damagedAttributes(of: key) }
    let isComplete = try requireAll(of: steps, key)
    for step in steps.reversed() {
      undoings.append(Undoing(transform: try transform(step, of: key), parameter: step.parameter))
    }
    guard isComplete else { return undoings }
    state.withLock { [undoings] state in
      if state.undoings.count >= Self.maximumUndoings { state.undoings = [:] }
      state.undoings[text] = undoings
    }
    return undoings
  }

  /// Makes sure that `steps` lack no required transform, and returns `true`. For leases, `false` if they do: they are in
  /// the clear, so that processes without the key can wait for a request too, and no value is made from them.
  ///
  /// - Throws: `CacheError` with the code `notSealed`.
  @discardableResult
  private func requireAll(of steps: [TransformStep], _ key: CacheKey) throws(CacheError) -> Bool {
    guard let name = required.first(where: { name in !steps.contains { $0.name == name } }) else { return true }
    if key.namespace == Lease.namespace { return false }
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
      let own = transforms.written.first { $0.name == step.name }
      let found: (any PayloadTransform)? = if let own { own } else { try transforms.find(step.name) }
      guard let transform = found else {
        throw CacheError(
          .unsupported, "the transform '\(step.name)' is not set up", hint: "read the store with a program that has it")
      }
      state.withLock { $0.transforms[step.name] = transform }
      return transform
    } catch {
      throw CacheError(
        error.code, "entry \(key) was written with the transform '\(step.name)': \(error.message)", hint: error.hint,
        key: key.text, cause: error)
    }
  }
}
