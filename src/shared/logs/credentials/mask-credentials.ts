import { redacted } from '../masked-arguments.ts';
import { maskedElements, maskedParts } from './masked-elements.ts';
import { maskedFields, maskedFormFields } from './masked-fields.ts';
import type { SecretFields } from './secret-names.ts';

export interface TextKind {
  /** It is declared as `application/x-www-form-urlencoded`. */
  readonly isForm: boolean;
  /** Of a multipart form; null: the text itself says it, or it is none. */
  readonly boundary: string | null;
  /** It is only the beginning. */
  readonly isCut: boolean;
}

/** Credentials that are recognised by their form. */
const forms: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  // User and password of a URL.
  [/(:(?:\\?\/){2})[^/?#\s"'<>\\@]{1,256}@/g, `$1${redacted}@`],
  [/(?<!\w)((?:basic|bearer|dpop|negotiate)(?:[ +]|%20){1,4})[\w.~+/=%-]{8,}/gi, `$1${redacted}`],
  // A signed token.
  [/(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}\.[\w-]*/g, redacted],
  [/(-----BEGIN [A-Z ]{0,40}PRIVATE KEY-----)[\s\S]*?(?=-----END [A-Z ]{0,40}PRIVATE KEY-----|$)/g, `$1${redacted}`],
  // A code of OAuth 2 in a redirect.
  [/([?&#]code=)[^&#\s"'<>\\]+/g, `$1${redacted}`],
];

/** The same at the end of a text that is cut off. */
const cutForms: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  [/(:(?:\\?\/){2})[^/?#\s"'<>\\@]{1,256}$/, `$1${redacted}`],
  [/(?<!\w)((?:basic|bearer|dpop|negotiate)(?:[ +]|%20){1,4})[\w.~+/=%-]{1,8}$/i, `$1${redacted}`],
  [/(?<![\w-])eyJ[\w-]*(?:\.[\w-]*){0,2}$/, redacted],
];

/** A form that is declared as something else. */
const likeForm = /^[\w.%[\]-]{1,128}=[^\s"<>{}]*$/;

/** Fields of a token request whose names are common elsewhere. */
const grantFields =
  /((?:^|[&{,\s])["']?(?:code|code_verifier|subject_token|actor_token)["']?\s{0,8}[:=]\s{0,8}["']?)[^&"'\s,}]+/g;

/**
 * A text of any type without the credentials in it, for those who may see the rest: values of fields that carry one by their name, and what looks
 * like one. The declared type only adds rules: a credential that is sent with a wrong type is masked too. Linear time; masks too much
 * rather than too little.
 */
export function maskCredentials(text: string, kind: TextKind, secrets: SecretFields): string {
  return maskedWithin(text, kind, secrets, 0);
}

/** How often a value of a form is decoded. */
const maxDepth = 3;

function maskedWithin(text: string, kind: TextKind, secrets: SecretFields, depth: number): string {
  const { isForm, boundary, isCut } = kind;
  const within = (value: string): string =>
    depth === maxDepth ? value : maskedWithin(value, { isForm: false, boundary: null, isCut }, secrets, depth + 1);
  let masked = isForm || likeForm.test(text) ? maskedFormFields(text, secrets, within) : text;
  if (boundary !== null || /content-disposition:/i.test(masked)) masked = maskedParts(masked, boundary, secrets);
  masked = maskedFields(masked, secrets);
  masked = maskedElements(masked, secrets);
  if (masked.includes('grant_type')) masked = masked.replace(grantFields, `$1${redacted}`);
  for (const [pattern, replacement] of isCut ? [...forms, ...cutForms] : forms)
    masked = masked.replace(pattern, replacement);
  return masked;
}
