const months = ['Jan', 'Feb', 'Mar', 'Apr', 'May', 'Jun', 'Jul', 'Aug', 'Sep', 'Oct', 'Nov', 'Dec'];

/** Caches the formatted text of a time in milliseconds since the epoch for one second. */
function oncePerSecond(format: (date: Date) => string): (time: number) => string {
  let second = -1;
  let text = '';
  return (time) => {
    const now = Math.floor(time / 1000);
    if (now !== second) {
      text = format(new Date(time));
      second = now;
    }
    return text;
  };
}

/** `21/Nov/2025:03:04:05 +0100` */
export const localTime = oncePerSecond((date) => {
  const day = `${two(date.getDate())}/${months[date.getMonth()]}/${date.getFullYear()}`;
  return `${day}:${clock(date)} ${zone(date, '')}`;
});

/** `2025-11-21T03:04:05+01:00` */
export const isoTime = oncePerSecond((date) => {
  const day = `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day}T${clock(date)}${zone(date, ':')}`;
});

/** Milliseconds as nginx writes durations and times: seconds with three decimals. */
export function seconds(milliseconds: number): string {
  const whole = Math.max(0, Math.round(milliseconds));
  const rest = whole % 1000;
  const zeros = rest < 10 ? '00' : rest < 100 ? '0' : '';
  return `${(whole - rest) / 1000}.${zeros}${rest}`;
}

function clock(date: Date): string {
  return `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
}

function zone(date: Date, between: string): string {
  const offset = -date.getTimezoneOffset();
  const minutes = Math.abs(offset);
  return `${offset < 0 ? '-' : '+'}${two(Math.floor(minutes / 60))}${between}${two(minutes % 60)}`;
}

function two(value: number): string {
  return String(value).padStart(2, '0');
}
