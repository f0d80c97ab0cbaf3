import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { maskCredentials } from './mask-credentials.ts';
import { SecretFields } from './secret-names.ts';

/** Every secret below contains this text. */
const secret = 's3cr3t';
const fields = new SecretFields(new Set(['x-own-key']));
const mask = (text: string, isForm = false, isCut = false): string =>
  maskCredentials(text, { isForm, boundary: null, isCut }, fields);

const hostile: readonly string[] = [
  `{"password":"${secret}"}`,
  `{ "user": "ann", "password" : "${secret}\\"${secret}" , "x": 1 }`,
  `{"pass\\u0077ord":"${secret}"}`,
  `{"PassWord":"${secret}","newPassword":"${secret}","client_secret":"${secret}","accessToken":"${secret}"}`,
  `{"password":{"value":"${secret}","old":["${secret}]"]},"x":1}`,
  `{"credentials":["${secret}","${secret}"]}`,
  `{"x-own-key":"${secret}","X_Own_Key":"${secret}","xOwnKey":"${secret}"}`,
  `{"pin":${secret.length}${secret}}`,
  // Cut off anywhere.
  `{"password":"${secret}`,
  `{"password":{"a":"${secret}`,
  `[{"a":1},{"refresh_token":"${secret}\\`,
  // JSON within JSON.
  `{"body":"{\\"password\\":\\"${secret}\\",\\"user\\":\\"ann\\"}"}`,
  `{"query":"mutation { login(password: \\"${secret}\\") { id } }"}`,
  `{"log":"sent password: ${secret}","user":"ann"}`,
  // Not JSON.
  `{'password': '${secret}'}`,
  `{password: "${secret}"}`,
  `password: ${secret}, with a comma`,
  `password: |\n  ${secret}\n  ${secret}\n`,
  `Authorization: Basic ${secret}\r\nHost: a.test`,
  `{"headers":{"authorization":"Bearer ${secret}","cookie":"sid=${secret}"}}`,
  // Forms, declared as such and not.
  `user=ann&password=${secret}&x=1`,
  `user=ann&pass%77ord=${secret}`,
  `user[password]=${secret}&a=b`,
  `a=1;password=${secret}`,
  `password=${secret} with blanks and ${secret}\r\nuser=ann`,
  `grant_type=authorization_code&code=${secret}&code_verifier=${secret}&client_assertion=${secret}`,
  `{"grant_type":"authorization_code","code":"${secret}"}`,
  // XML.
  `<login><user>ann</user><password>${secret}</password></login>`,
  `<w:Password Type="PasswordText">${secret}</w:Password>`,
  `<Password><![CDATA[${secret}]]></Password>`,
  `<password>${secret}</passw`,
  // Multipart.
  `--b\r\nContent-Disposition: form-data; name="user"\r\n\r\nann\r\n--b\r\nContent-Disposition: form-data; name="password"\r\n\r\n${secret}\r\n--b--\r\n`,
  `--b\r\ncontent-disposition: form-data; name=password\r\n\r\n${secret}`,
  `--b\nContent-Disposition: form-data; name*=utf-8''password; filename="x"\nContent-Type: text/plain\n\n-----BEGIN\n--x ${secret}\n--b--`,
  // Known by their form.
  `see https://ann:${secret}@a.test/`,
  `{"url":"https:\\/\\/ann:${secret}@a.test\\/"}`,
  `{"redirect_uri":"https://a.test/cb?code=${secret}&state=1"}`,
  `["authorization","Bearer ${secret}12345"]`,
  `["eyJhbGciOi${secret}.eyJhbGciOi${secret}.${secret}"]`,
  `-----BEGIN RSA PRIVATE KEY-----\n${secret}\n-----END RSA PRIVATE KEY-----`,
  `-----BEGIN PRIVATE KEY-----\\n${secret}`,
];

describe('credentials in bodies', () => {
  it('are masked wherever they are', () => {
    for (const text of hostile) {
      for (const isForm of [false, true]) {
        const shown = mask(text, isForm);
        assert.ok(!shown.includes(secret), `${text}\n${shown}`);
        assert.match(shown, /REDACTED/);
      }
    }
  });

  it('are masked in any prefix of a text', () => {
    for (const text of hostile) {
      for (let end = 0; end < text.length; end++) {
        const shown = mask(text.slice(0, end), false, true);
        assert.ok(!shown.includes(secret), `${text.slice(0, end)}\n${shown}`);
      }
    }
  });

  it('leave the rest as it is', () => {
    for (const text of [
      '{"user":"ann","code":404,"message":"not found","max_tokens":5,"token_type":"bearer","expires_in":3600}',
      '{"token":null,"password":"","next":"https://a.test/users?page=2"}',
      'user=ann&code=1&x=a+b',
      '<user id="1"><name>ann</name></user>',
      'at 12:30:01, key: value; a = b',
      '--b\r\nContent-Disposition: form-data; name="file"; filename="a.txt"\r\n\r\nhello\r\n--b--\r\n',
    ]) {
      assert.equal(mask(text), text === 'user=ann&code=1&x=a+b' ? 'user=ann&code=REDACTED&x=a+b' : text);
    }
    assert.equal(
      mask('{"password":"x","user":"ann","pin":1234,"n":[1]}'),
      '{"password":"REDACTED","user":"ann","pin":"REDACTED","n":[1]}',
    );
    assert.equal(mask('password=x&user=ann', true), 'password=REDACTED&user=ann');
  });

  it('take linear time to find', () => {
    const size = 65_536;
    for (const piece of [
      'password:',
      '"password":',
      'password=',
      '{"password":',
      '"',
      '":',
      '\\"',
      ':',
      '= ',
      ' ',
      '<password>',
      '</',
      '<a ',
      '<password></',
      'content-disposition: form-data; name="password"\n',
      'content-disposition: form-data; name="a"; name="',
      '://',
      '://a',
      'eyJ',
      '-eyJ',
      'eyJaaaaaaaa.',
      '-----BEGIN PRIVATE KEY-----',
      'Bearer ',
      'grant_type code',
      '?code=',
      'token: "',
      '[{',
      'token:[',
      '%70',
      '\\u0070',
    ]) {
      const text = piece.repeat(Math.ceil(size / piece.length));
      const began = performance.now();
      mask(text, false, true);
      mask(text, true, false);
      const took = performance.now() - began;
      assert.ok(took < 1_000, `${piece}: ${took} ms`);
    }
  });
});
