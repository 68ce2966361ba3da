internal import CachePresentation

/// `text` in quotation marks, safe for a terminal: what somebody wrote is quoted in messages as JSON has it.
func quoted(_ text: String) -> String { JSONText.text(.string(text)) }
