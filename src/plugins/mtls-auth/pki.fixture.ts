import { execFileSync } from 'node:child_process';
import { generateKeyPairSync, sign, X509Certificate } from 'node:crypto';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import * as der from '../../plugin-kit/der/index.ts';

/** A certificate with its key, made by OpenSSL. */
export interface Issued {
  /** PEM. */
  readonly cert: string;
  readonly key: string;
  readonly der: Buffer;
}

export interface TestAuthority extends Issued {
  /** Issues a certificate. Extensions as in OpenSSL's configuration. */
  issue(subject: string, options?: IssueOptions): Issued;
  /** Issues the certificate of an authority below this one. */
  authority(subject: string, options?: IssueOptions): TestAuthority;
  /** A revocation list, PEM. */
  crl(revoked: readonly Issued[], options?: CrlOptions): string;
}

export interface IssueOptions {
  readonly extensions?: readonly string[];
  /** `YYYYMMDDHHMMSSZ`. Default: since 2020. */
  readonly from?: string;
  /** Default: until 2099. */
  readonly to?: string;
  readonly digest?: string;
  /** PEM of the key. Default: the one that all clients share. */
  readonly key?: string;
}

export interface CrlOptions {
  /** Seconds until the next update. Default: a day. */
  readonly seconds?: number;
  readonly extensions?: readonly string[];
}

export const authorityExtensions = ['basicConstraints=critical,CA:TRUE', 'keyUsage=critical,keyCertSign,cRLSign'];

/** Authorities for tests, in a folder of their own. */
export class TestPki {
  readonly folder = mkdtempSync(join(tmpdir(), 'sluicegate-pki-'));
  readonly clientKey = newKey();
  #count = 0;

  /** A self-signed authority. */
  root(subject: string, options: IssueOptions = {}): TestAuthority {
    const key = options.key ?? newKey();
    const home = this.#home();
    writeFileSync(join(home, 'key.pem'), key);
    const config = this.#config(home, options.extensions ?? authorityExtensions);
    const out = join(home, 'cert.pem');
    openssl(
      home,
      'req',
      '-x509',
      '-new',
      '-key',
      join(home, 'key.pem'),
      '-subj',
      subject,
      '-days',
      '3650',
      '-config',
      config,
      '-extensions',
      'ext',
      '-out',
      out,
      `-${options.digest ?? 'sha256'}`,
    );
    return this.#asAuthority(home, issued(readFileSync(out, 'utf8'), key));
  }

  close(): void {
    rmSync(this.folder, { recursive: true, force: true });
  }

  #asAuthority(home: string, own: Issued): TestAuthority {
    const issue = (subject: string, options: IssueOptions = {}): Issued => {
      const key = options.key ?? this.clientKey;
      const request = join(home, 'request.pem');
      const keyFile = join(home, 'subject.key');
      writeFileSync(keyFile, key);
      const config = this.#config(home, options.extensions ?? []);
      openssl(home, 'req', '-new', '-key', keyFile, '-subj', subject, '-config', config, '-out', request);
      const out = join(home, 'issued.pem');
      openssl(
        home,
        'ca',
        '-batch',
        '-config',
        config,
        '-in',
        request,
        '-out',
        out,
        '-notext',
        '-extensions',
        'ext',
        '-startdate',
        options.from ?? '20200101000000Z',
        '-enddate',
        options.to ?? '20991231235959Z',
        '-md',
        options.digest ?? 'sha256',
      );
      return issued(readFileSync(out, 'utf8'), key);
    };
    return {
      ...own,
      issue,
      authority: (subject, options = {}) => {
        const key = options.key ?? newKey();
        const one = issue(subject, { extensions: authorityExtensions, ...options, key });
        const below = this.#home();
        writeFileSync(join(below, 'key.pem'), key);
        writeFileSync(join(below, 'cert.pem'), one.cert);
        return this.#asAuthority(below, one);
      },
      crl: (revoked, { seconds = 86_400, extensions = [] } = {}) => {
        const lines = revoked.map(({ cert }) => `R\t991231235959Z\t250101000000Z\t${serialOf(cert)}\tunknown\t/CN=x\n`);
        const index = readFileSync(join(home, 'index.txt'), 'utf8');
        writeFileSync(join(home, 'index.txt'), lines.join(''));
        const out = join(home, 'crl.pem');
        const config = this.#config(home, [], extensions);
        openssl(
          home,
          'ca',
          '-config',
          config,
          '-gencrl',
          '-crlsec',
          String(seconds),
          ...(extensions.length > 0 ? ['-crlexts', 'crl'] : []),
          '-out',
          out,
        );
        writeFileSync(join(home, 'index.txt'), index);
        return readFileSync(out, 'utf8');
      },
    };
  }

  #home(): string {
    const home = join(this.folder, String(++this.#count));
    mkdirSync(home);
    writeFileSync(join(home, 'index.txt'), '');
    writeFileSync(join(home, 'crlnumber'), '01\n');
    return home;
  }

  #config(home: string, extensions: readonly string[], crlExtensions: readonly string[] = []): string {
    const path = join(home, 'openssl.cnf');
    const lines = [
      '[req]',
      'distinguished_name=dn',
      'prompt=no',
      'utf8=yes',
      'string_mask=utf8only',
      '[dn]',
      '[ca]',
      'default_ca=own',
      '[own]',
      `database=${join(home, 'index.txt')}`,
      `crlnumber=${join(home, 'crlnumber')}`,
      `new_certs_dir=${home}`,
      `certificate=${join(home, 'cert.pem')}`,
      `private_key=${join(home, 'key.pem')}`,
      'rand_serial=yes',
      'default_md=sha256',
      'policy=any',
      'unique_subject=no',
      'preserve=yes',
      'default_crl_days=1',
      'email_in_dn=yes',
      'copy_extensions=none',
      '[any]',
      ...['countryName', 'organizationName', 'organizationalUnitName', 'commonName', 'emailAddress'].map(
        (name) => `${name}=optional`,
      ),
      '[ext]',
      ...extensions,
      '[crl]',
      ...crlExtensions,
    ];
    writeFileSync(path, `${lines.join('\n')}\n`);
    return path;
  }
}

export interface CrlParts {
  /** Common name of the issuer. */
  readonly issuer: string;
  /** PEM of the key that signs. */
  readonly key: string;
  /** DER of the entries, one after another. */
  readonly entries?: Uint8Array;
  /** Extensions that are critical: identifier and DER of the value. */
  readonly extensions?: readonly (readonly [id: string, value: Uint8Array])[];
  /** What follows the entries inside the signed part. */
  readonly more?: Uint8Array;
  /** Milliseconds since the epoch. Default: now. */
  readonly thisUpdate?: number;
  readonly digest?: 'sha1' | 'sha256';
}

/** A revocation list in DER, with contents that OpenSSL does not write. */
export function handmadeCrl(parts: CrlParts): Buffer {
  const { entries = Buffer.alloc(0), extensions = [], thisUpdate = Date.now(), digest = 'sha256' } = parts;
  const algorithm = der.sequence(der.objectIdentifier(digest === 'sha1' ? '1.2.840.10045.4.1' : '1.2.840.10045.4.3.2'));
  const list = der.sequence(
    der.unsignedInteger(Buffer.of(1)),
    algorithm,
    der.sequence(der.setOf(der.sequence(der.objectIdentifier('2.5.4.3'), der.utf8String(parts.issuer)))),
    der.utcTime(new Date(thisUpdate)),
    der.utcTime(new Date(thisUpdate + 86_400_000)),
    ...(entries.byteLength === 0 ? [] : [der.sequence(entries)]),
    ...(extensions.length === 0 ? [] : [der.tagged(0, der.sequence(...extensions.map(criticalExtension)))]),
    ...(parts.more === undefined ? [] : [parts.more]),
  );
  return der.sequence(list, algorithm, der.bitString(sign(digest, list, parts.key)));
}

/** An entry of a list. `serial`: hexadecimal digits, as in the certificate. */
export function crlEntry(serial: string, extensions?: Uint8Array): Buffer {
  const date = der.tlv(0x17, Buffer.from('250101000000Z'));
  return der.sequence(
    der.tlv(0x02, Buffer.from(serial, 'hex')),
    date,
    ...(extensions === undefined ? [] : [extensions]),
  );
}

export function criticalExtension([id, value]: readonly [id: string, value: Uint8Array]): Buffer {
  return der.sequence(der.objectIdentifier(id), der.derTrue, der.octetString(value));
}

function serialOf(cert: string): string {
  return new X509Certificate(cert).serialNumber;
}

function newKey(): string {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  return privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
}

function issued(cert: string, key: string): Issued {
  return { cert, key, der: new X509Certificate(cert).raw };
}

function openssl(home: string, ...args: readonly string[]): void {
  try {
    execFileSync('openssl', args, { cwd: home, stdio: 'pipe' });
  } catch (error) {
    const { stderr } = error as { readonly stderr?: Buffer };
    throw new Error(`openssl ${args[0]}: ${stderr?.toString() ?? String(error)}`);
  }
}
