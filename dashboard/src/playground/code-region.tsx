/** Text that may be long: it scrolls. */
export function CodeRegion({ label, text }: { readonly label: string; readonly text: string }) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a region that scrolls must be reachable by keyboard
    <section className="answer-body" tabIndex={0} aria-label={label}>
      <pre className="code">{text}</pre>
    </section>
  );
}
