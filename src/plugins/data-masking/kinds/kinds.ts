import { findCards } from './card.ts';
import { findEmails } from './email.ts';
import { findIbans } from './iban.ts';
import { findAddresses } from './ip.ts';
import { findTokens } from './jwt.ts';
import { findPhones } from './phone.ts';
import type { Finder } from './spans.ts';

/** Names of the kinds in the configuration. */
export const kindNames = ['email', 'card', 'iban', 'phone', 'ip', 'jwt'] as const;
export type KindName = (typeof kindNames)[number];

export const kinds: Readonly<Record<KindName, Finder>> = Object.freeze({
  email: findEmails,
  card: findCards,
  iban: findIbans,
  phone: findPhones,
  ip: findAddresses,
  jwt: findTokens,
});
