const special = /[&<>"']/;

/**
 * A text for HTML and XML, as content or as the value of an attribute in quotation marks.
 *
 * @example
 * const page = `<p title="${escapeHtml(title)}">${escapeHtml(text)}</p>`;
 */
export function escapeHtml(text: string): string {
  if (!special.test(text)) return text;
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}
