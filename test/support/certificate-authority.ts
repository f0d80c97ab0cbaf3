import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface IssuedCertificate {
  /** PEM, followed by the intermediate certificates. */
  readonly cert: string;
  readonly key: string;
}

export interface IssueOptions {
  /** Validity in days; negative: expired. Default 2. */
  readonly days?: number;
  /** Intermediate authorities between the certificate and the root. Default 0. */
  readonly depth?: number;
}

/** A root authority, made by openssl, that issues certificates for names. */
export class CertificateAuthority implements Disposable {
  readonly #folder = mkdtempSync(join(tmpdir(), 'sluicegate-ca-'));
  readonly #name: string;
  #serial = 0;
  /** PEM of the root. */
  readonly cert: string;
  /** File with the PEM of the root. */
  readonly file: string;

  constructor(name = 'root') {
    this.#name = name;
    this.#issueAuthority(name, null);
    this.file = this.#path(name, 'crt');
    this.cert = readFileSync(this.file, 'utf8');
  }

  issue(host: string, { days = 2, depth = 0 }: IssueOptions = {}): IssuedCertificate {
    let issuer = this.#name;
    const between: string[] = [];
    for (let step = 0; step < depth; step++) {
      const name = `between-${this.#serial++}`;
      this.#issueAuthority(name, issuer);
      between.unshift(readFileSync(this.#path(name, 'crt'), 'utf8'));
      issuer = name;
    }
    const name = `leaf-${this.#serial++}`;
    this.#sign(name, host, issuer, `subjectAltName=DNS:${host},IP:127.0.0.1`, days);
    return {
      cert: [readFileSync(this.#path(name, 'crt'), 'utf8'), ...between].join(''),
      key: readFileSync(this.#path(name, 'key'), 'utf8'),
    };
  }

  [Symbol.dispose](): void {
    rmSync(this.#folder, { recursive: true, force: true });
  }

  #issueAuthority(name: string, issuer: string | null): void {
    this.#sign(name, name, issuer ?? name, 'basicConstraints=critical,CA:TRUE', 10);
  }

  #sign(name: string, subject: string, issuer: string, extension: string, days: number): void {
    const [key, request, cert, extensions] = ['key', 'csr', 'crt', 'ext'].map((kind) => this.#path(name, kind));
    run('ecparam', '-name', 'prime256v1', '-genkey', '-noout', '-out', key as string);
    run('req', '-new', '-key', key as string, '-subj', `/CN=${subject}`, '-out', request as string);
    writeFileSync(extensions as string, `${extension}\n`);
    const by =
      issuer === name
        ? ['-signkey', key as string]
        : ['-CA', this.#path(issuer, 'crt'), '-CAkey', this.#path(issuer, 'key'), '-CAcreateserial'];
    const files = ['-in', request as string, '-extfile', extensions as string, '-out', cert as string];
    run('x509', '-req', ...files, ...by, '-days', String(days));
  }

  #path(name: string, kind: string): string {
    return join(this.#folder, `${name}.${kind}`);
  }
}

function run(...args: readonly string[]): void {
  execFileSync('openssl', [...args], { stdio: 'ignore' });
}
