/** Numbers of severities and facilities (RFC 5424, 6.2.1). Names and their order are Kong's. */
export const severities = {
  emerg: 0,
  alert: 1,
  crit: 2,
  err: 3,
  warning: 4,
  notice: 5,
  info: 6,
  debug: 7,
} as const;

export const facilities = {
  auth: 4,
  authpriv: 10,
  cron: 9,
  daemon: 3,
  ftp: 11,
  kern: 0,
  lpr: 6,
  mail: 2,
  news: 7,
  syslog: 5,
  user: 1,
  uucp: 8,
  local0: 16,
  local1: 17,
  local2: 18,
  local3: 19,
  local4: 20,
  local5: 21,
  local6: 22,
  local7: 23,
} as const;

export type SeverityName = keyof typeof severities;
export type FacilityName = keyof typeof facilities;
