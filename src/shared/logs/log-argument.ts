/** The first argument of that name, as it was sent; '' for one without a value. Names of nginx's variables have no case. */
export function argument(shown: string, name: string): string | null {
  const wanted = name.toLowerCase();
  for (const each of shown.split('&')) {
    const equals = each.indexOf('=');
    if ((equals < 0 ? each : each.slice(0, equals)).toLowerCase() === wanted)
      return equals < 0 ? '' : each.slice(equals + 1);
  }
  return null;
}
