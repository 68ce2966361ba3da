public import StorageSPI

extension RepairPlan {
  /// The plan by which an entry is sound where its checksum says so. The damaged files get `suffix` appended to their
  /// names.
  public static func byChecksum(suffix: String) -> RepairPlan {
    RepairPlan(suffix: suffix) { key, payload, metadata in metadata.isSound(key: key, payload: payload) }
  }
}
