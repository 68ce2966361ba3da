internal import EngineAPI
internal import Synchronization

/// Applies the transforms of a store to its entries, and undoes them.
final class TransformPipeline: Sendable {
  /// One transform to undo, with what it was applied with.
  private struct Undoing: Sendable {
    let transform: any PayloadTransform
    let parameter: String
  }

  /// For how many different records to remember what to undo.
  private static let maximumUndoings = 64

  let transforms: EntryTransforms
  /// The names of the transforms that every entry must have.
  private let required: [String]
  /// The transforms to undo, in order, by the record of entries that were read: finding them again would take as long
  /// as a small page.
  private let known = Mutex<[String: [Undoing]]>([:])

  init(_ transforms: EntryTransforms) {
    self.transforms = transforms
    required = transforms.written.filter { $0.hidesContent && $0.isRequired }.map(\.name)
  }

  /// Whether entries are served that are stored without transforms.
  var servesPlain: Bool { required.isEmpty }

  /// The transforms that hide entries.
  var hiding: [any PayloadTransform] { transforms.written.filter(\.hidesContent) }

  /// An entry to be stored, whose checksum is not computed yet, written with `transforms`.
  ///
  /// - Throws: `CacheError`: what a transform throws.
  func encoded(
    _ payload: [UInt8], _ metadata: EntryMetadata, key: CacheKey, with transforms: [any PayloadTransform]
  ) throws(CacheError) -> (payload: [UInt8], metadata: EntryMetadata) {
    var payload = payload
    var metadata = metadata
    var steps: [TransformStep] = []
    var tag: [UInt8] = []
    let context = context(.payload, of: key)
    for transform in transforms {
      guard let output = try transform.encode(payload.span, context) else { continue }
      guard TransformStep.isParameter(output.parameter) else {
        throw CacheError(
          .failed, "the transform '\(transform.name)' has a parameter that cannot be kept: '\(output.parameter)'",
          hint: "return up to 64 letters and digits as its parameter")
      }
      payload = output.bytes
      if transform.tagBytes > 0 { tag = payload.suffix(transform.tagBytes) }
      steps.append(TransformStep(name: transform.name, parameter: output.parameter))
    }
    metadata.payloadChecksum = EntryMetadata.computedPayloadChecksum(payload.span)
    if transforms.isEmpty { return (payload, metadata) }
    let hiding = transforms.filter(\.hidesContent)
    guard let recorded = try recorded(metadata, steps, tag: Self.text(tag), key: key, hidingBy: hiding) else {
      throw CacheError(
        .failed, "a transform does not hide attributes as it hides their entry",
        hint: "return bytes and the same parameter from each call for an entry")
    }
    return (payload, recorded)
  }

  /// The metadata for the payload of `stored`, with its checksum, if `metadata` takes the place of what `stored` says: the
  /// payload stays unchanged, and only the metadata is hidden and sealed again. `nil` if the entry would be written in
  /// another way now.
  ///
  /// The seal of the payload binds it to its key, and its tag is in the seal of the metadata. So this needs no payload,
  /// but a proof that the tag is unchanged: it opens the present metadata.
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
    var bytes = JSONWriter.bytes(of: hidden)
    let context = context(.attributes, of: key, authenticated: metadata.authenticatedBytes)
    for transform in transforms {
      guard let output = try transform.encode(bytes.span, context),
        steps.contains(where: { $0.name == transform.name && $0.parameter == output.parameter })
      else { return nil }
      bytes = output.bytes
    }
    metadata.attributes[EntryMetadata.hiddenName] = Self.text(bytes)
    return metadata
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

  /// The metadata of the entry under `key` as it was before the transforms, with the checksum of the stored payload.
  ///
  /// - Throws: `CacheError`, as `opened(_:_:key:)` does.
  func revealed(_ stored: EntryMetadata, key: CacheKey) throws(CacheError) -> EntryMetadata {
    try revealed(stored, try undoings(of: stored, key), key)
  }

  private func undo(
    _ undoings: ArraySlice<Undoing>, _ payload: Span<UInt8>, _ metadata: EntryMetadata, _ key: CacheKey
  ) throws(CacheError) -> [UInt8] {
    let context = context(.payload, of: key)
    var isTagKnown = false
    func undo(_ undoing: Undoing, _ bytes: Span<UInt8>) throws(CacheError) -> [UInt8] {
      let tagBytes = undoing.transform.tagBytes
      // The last transform that was applied gave the tag.
      if tagBytes > 0, !isTagKnown {
        let tag = bytes.withUnsafeBufferPointer { Self.text($0.suffix(tagBytes)) }
        guard metadata.seal?.tag == tag else { throw Self.forged(key) }
        isTagKnown = true
      }
      return try undoing.transform.decode(bytes, parameter: undoing.parameter, context)
    }
    guard let first = undoings.first else { return payload.withUnsafeBufferPointer { Array($0) } }
    var bytes = try undo(first, payload)
    for undoing in undoings.dropFirst() { bytes = try undo(undoing, bytes.span) }
    return bytes
  }

  private func revealed(
    _ stored: EntryMetadata, _ undoings: [Undoing], _ key: CacheKey
  ) throws(CacheError) -> EntryMetadata {
    var metadata = stored.withoutRecord
    guard undoings.contains(where: \.transform.hidesContent) else { return metadata }
    guard let text = stored.hidden, let seal = stored.seal, var bytes = Base64.decoded(Array(text.utf8)) else {
      throw Self.damagedAttributes(of: key)
    }
    let context = context(.attributes, of: key, authenticated: stored.authenticatedBytes)
    for undoing in undoings where undoing.transform.hidesContent {
      bytes = try undoing.transform.decode(bytes.span, parameter: undoing.parameter, context)
    }
    guard stored.freshUntil <= seal.freshUntil else { throw Self.forged(key) }
    guard let hidden = JSONReader.attributes(in: bytes) else { throw Self.damagedAttributes(of: key) }
    metadata.attributes.merge(hidden) { $1 }
    return metadata
  }

  private func context(
    _ part: TransformContext.Part, of key: CacheKey, authenticated: [UInt8] = []
  ) -> TransformContext {
    TransformContext(
      key: key, part: part, maxEntryBytes: transforms.maxEntryBytes, authenticated: authenticated)
  }

  private static func text(_ bytes: some Sequence<UInt8>) -> String {
    String(decoding: Base64.encoded(Array(bytes)), as: UTF8.self)
  }

  private static func forged(_ key: CacheKey) -> CacheError {
    CacheError(
      .damaged, "entry \(key) is not authentic: its payload or a time was changed after it was sealed", key: key.text)
  }

  private static func damagedAttributes(of key: CacheKey) -> CacheError {
    CacheError(.damaged, "entry \(key) is damaged: its attributes differ from the written ones", key: key.text)
  }

  /// The transforms to undo for the entry under `key`, in order. Leases can lack required transforms: they are in the
  /// clear, so that processes without the key can wait for a request too, and no value is made from them.
  private func undoings(of metadata: EntryMetadata, _ key: CacheKey) throws(CacheError) -> [Undoing] {
    if let text = metadata.transforms, !key.isLease, let undoings = known.withLock({ $0[text] }) { return undoings }
    guard let steps = metadata.transformSteps else { throw Self.damagedAttributes(of: key) }
    let missing = required.first { name in !steps.contains { $0.name == name } }
    if let missing, !key.isLease {
      throw CacheError(
        .notSealed, "entry \(key) is not sealed: it was written without the required transform '\(missing)'",
        hint: "remove the entry, or set 'required' of the transform to false while entries from before are in use",
        key: key.text)
    }
    var undoings: [Undoing] = []
    for step in steps.reversed() {
      undoings.append(Undoing(transform: try transform(step.name, of: key), parameter: step.parameter))
    }
    if let text = metadata.transforms, !key.isLease {
      known.withLock { [undoings] known in
        if known.count >= Self.maximumUndoings { known = [:] }
        known[text] = undoings
      }
    }
    return undoings
  }

  private func transform(_ name: String, of key: CacheKey) throws(CacheError) -> any PayloadTransform {
    if let own = transforms.written.first(where: { $0.name == name }) { return own }
    do throws(CacheError) {
      if let transform = try transforms.find(name) { return transform }
      throw CacheError(
        .unsupported, "the transform '\(name)' is not configured", hint: "read the store with a program that has it")
    } catch {
      throw CacheError(
        error.code, "entry \(key) was written with the transform '\(name)': \(error.message)", hint: error.hint,
        key: key.text, cause: error)
    }
  }
}
