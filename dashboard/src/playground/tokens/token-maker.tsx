import { useState } from 'react';
import type { Draft } from '../request-draft.ts';
import { requestTarget } from '../request-target.ts';
import { noCrypto, subtleCrypto, TokenError } from './bytes.ts';
import { CredentialChoice } from './credential-choice.tsx';
import { basicCredentials } from './credentials.ts';
import { hmacAlgorithms, hmacHeaders } from './hmac-signature.ts';
import { jwtAlgorithms, signJwt } from './jwt.ts';
import { Checkbox, Choice, SecretField, TextField } from './token-fields.tsx';

const kinds = {
  'key-auth': 'keyauth_credentials',
  'basic-auth': 'basicauth_credentials',
  jwt: 'jwt_secrets',
  'hmac-auth': 'hmacauth_credentials',
} as const;
type Kind = keyof typeof kinds;

/** What is typed, by its purpose; of all kinds together, so that a change of the kind loses nothing. */
interface Typed {
  readonly name: string;
  readonly secret: string;
  readonly header: string;
  readonly algorithm: string;
  readonly isBase64: boolean;
  readonly minutes: string;
  readonly hasNotBefore: boolean;
  readonly claims: string;
}

const nothing: Typed = {
  name: '',
  secret: '',
  header: 'apikey',
  algorithm: '',
  isBase64: false,
  minutes: '60',
  hasNotBefore: false,
  claims: '',
};

interface TokenMakerProps {
  readonly draft: Draft;
  readonly onUse: (headers: Readonly<Record<string, string>>) => void;
}

/** Makes headers with credentials in the browser. Nothing is stored, nor sent before the request is. */
export function TokenMaker({ draft, onUse }: TokenMakerProps) {
  const [kind, setKind] = useState<Kind>('key-auth');
  const [typed, setTyped] = useState(nothing);
  const [outcome, setOutcome] = useState<{ readonly text: string; readonly failed: boolean } | null>(null);
  const set = (changes: Partial<Typed>): void => setTyped((before) => ({ ...before, ...changes }));
  const needsCrypto = (kind === 'jwt' || kind === 'hmac-auth') && subtleCrypto() === null;

  async function use(): Promise<void> {
    try {
      const headers = await headersOf(kind, typed, draft);
      onUse(headers);
      setOutcome({ text: `Set ${Object.keys(headers).join(', ')}.`, failed: false });
    } catch (error) {
      if (!(error instanceof TokenError)) throw error;
      setOutcome({ text: error.message, failed: true });
    }
  }

  return (
    <section className="card card-pad stack" aria-labelledby="token-title">
      <div>
        <h2 id="token-title">Make a token</h2>
        <p className="small muted">Made in this browser. It is neither stored nor sent, except in the request.</p>
      </div>
      <div className="token-fields">
        <Choice
          label="Plugin"
          value={kind}
          options={Object.keys(kinds)}
          onChange={(value) => {
            setKind(value as Kind);
            setTyped(nothing);
            setOutcome(null);
          }}
        />
        <CredentialChoice
          key={kind}
          entity={kinds[kind]}
          onChoose={(row) => {
            const text = (name: string): string => (typeof row[name] === 'string' ? row[name] : '');
            const secret = kind === 'basic-auth' ? '' : visible(text(kind === 'key-auth' ? 'key' : 'secret'));
            const algorithm = text('algorithm');
            const isSymmetric = kind !== 'jwt' || algorithm.startsWith('HS');
            set({ name: text(kind === 'jwt' ? 'key' : 'username'), secret: isSymmetric ? secret : '', algorithm });
          }}
        />
        <Fields kind={kind} typed={typed} set={set} />
      </div>
      {needsCrypto && <p className="banner">{noCrypto}</p>}
      {kind === 'hmac-auth' && (
        <p className="small muted">
          Signs the date, the method and the URL, and the digest of a body: sign again when you change them.
        </p>
      )}
      <div className="row">
        <button type="button" className="button" disabled={needsCrypto} onClick={() => void use()}>
          Use in request
        </button>
        {outcome !== null && (
          <span className={outcome.failed ? 'problem' : 'small muted'} role={outcome.failed ? 'alert' : 'status'}>
            {outcome.text}
          </span>
        )}
      </div>
    </section>
  );
}

interface FieldsProps {
  readonly kind: Kind;
  readonly typed: Typed;
  readonly set: (changes: Partial<Typed>) => void;
}

function Fields({ kind, typed, set }: FieldsProps) {
  const secret = (label: string, isLong = false) => (
    <SecretField label={label} value={typed.secret} isLong={isLong} onChange={(value) => set({ secret: value })} />
  );
  const name = (label: string) => (
    <TextField label={label} value={typed.name} onChange={(value) => set({ name: value })} />
  );
  if (kind === 'key-auth') {
    return (
      <>
        <TextField label="Header" value={typed.header} onChange={(header) => set({ header })} />
        {secret('Key')}
      </>
    );
  }
  if (kind === 'basic-auth') {
    return (
      <>
        {name('User name')}
        {secret('Password')}
      </>
    );
  }
  const algorithms = kind === 'jwt' ? jwtAlgorithms : Object.keys(hmacAlgorithms);
  const algorithm = (
    <Choice
      label="Algorithm"
      value={algorithmOf(kind, typed)}
      options={algorithms}
      onChange={(value) => set({ algorithm: value, secret: '' })}
    />
  );
  if (kind === 'hmac-auth') {
    return (
      <>
        {name('User name')}
        {secret('Secret')}
        {algorithm}
      </>
    );
  }
  const isSymmetric = algorithmOf(kind, typed).startsWith('HS');
  return (
    <>
      {name('Key (claim iss)')}
      {algorithm}
      {isSymmetric ? secret('Secret') : secret('Private key (PEM)', true)}
      {isSymmetric && (
        <Checkbox label="The secret is base64" checked={typed.isBase64} onChange={(isBase64) => set({ isBase64 })} />
      )}
      <TextField label="Valid for minutes (exp)" value={typed.minutes} onChange={(minutes) => set({ minutes })} />
      <Checkbox
        label="Not valid before now (nbf)"
        checked={typed.hasNotBefore}
        onChange={(hasNotBefore) => set({ hasNotBefore })}
      />
      <TextField
        label="Further claims (JSON)"
        value={typed.claims}
        placeholder='{"sub": "ada"}'
        isWide
        onChange={(claims) => set({ claims })}
      />
    </>
  );
}

function algorithmOf(kind: Kind, { algorithm }: Typed): string {
  if (kind === 'hmac-auth') return algorithm in hmacAlgorithms ? algorithm : 'hmac-sha256';
  return (jwtAlgorithms as readonly string[]).includes(algorithm) ? algorithm : 'HS256';
}

/** A caller who may not write a credential sees that it has a secret, and not which. */
function visible(secret: string): string {
  return secret === 'REDACTED' ? '' : secret;
}

async function headersOf(kind: Kind, typed: Typed, draft: Draft): Promise<Readonly<Record<string, string>>> {
  const { name, secret, header } = typed;
  if (kind === 'key-auth') {
    if (header.trim() === '' || secret === '') throw new TokenError('Enter the header and the key.');
    return { [header.trim()]: secret };
  }
  if (kind === 'basic-auth') return { Authorization: basicCredentials(name, secret) };
  const algorithm = algorithmOf(kind, typed);
  if (kind === 'jwt') {
    const token = await signJwt({ algorithm, key: secret, keyIsBase64: typed.isBase64, claims: claimsOf(typed) });
    return { Authorization: `Bearer ${token}` };
  }
  const target = requestTarget(draft.url.trim());
  if (target === null) throw new TokenError('Enter the URL of the request first: it is signed.');
  if (draft.isBase64) throw new TokenError('A body in base64 cannot be signed here.');
  const body = draft.body === '' ? null : draft.body;
  return hmacHeaders({ username: name, secret, algorithm, request: { method: draft.method, target, body } });
}

function claimsOf({ name, minutes, hasNotBefore, claims }: Typed): Readonly<Record<string, unknown>> {
  const now = Math.floor(Date.now() / 1000);
  const validity = Number(minutes);
  if (minutes.trim() !== '' && !Number.isFinite(validity)) throw new TokenError('The minutes are not a number.');
  return {
    ...(name === '' ? {} : { iss: name }),
    iat: now,
    ...(minutes.trim() === '' ? {} : { exp: now + Math.round(validity * 60) }),
    ...(hasNotBefore ? { nbf: now } : {}),
    ...parsedClaims(claims),
  };
}

function parsedClaims(text: string): Readonly<Record<string, unknown>> {
  if (text.trim() === '') return {};
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  } catch {
    // Said below.
  }
  throw new TokenError('The further claims are no JSON object.');
}
