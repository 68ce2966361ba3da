extension HTTPResponse {
  /// The body's media type in lower case, without parameters; `nil` if the header does not give one.
  var mediaType: String? {
    guard let type = head.fields["content-type"]?.prefix(while: { $0 != ";" && $0 != "," }) else { return nil }
    return FieldList.trimmed(type).lowercased()
  }
}
