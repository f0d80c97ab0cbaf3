import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { cpuTime } from '../../../../test/support/cpu-time.ts';
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
  `{"a":"{\\"b\\":\\"{\\\\\\"password\\\\\\":\\\\\\"${secret}\\\\\\",\\\\\\"x\\\\\\":1}\\"}"}`,
  `{"a":"{\\"pass\\\\u0077ord\\":\\"${secret}\\"}"}`,
  `{"body":"user=ann&password=${secret}&x=1"}`,
  // A name and its value are fields of their own.
  `[{"name":"user","value":"ann"},{"name":"password","value":"${secret}"}]`,
  `[{"value":"${secret}","type":"password"},{"value":1}]`,
  `<input type="text" name="new_password" class="a" value="${secret}">`,
  `<input value="${secret}" name='csrf_token'>`,
  `<meta name="csrf-token" content="${secret}">`,
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
  `payload=%7B%22password%22%3A%22${secret}%22%7D&x=1`,
  `to=https%3A%2F%2Fann%3A${secret}%40a.test%2F&x=1`,
  `to=https%3A%2F%2Fa.test%2Fcb%3Fcode%3D${secret}&x=1`,
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
      // Its name has not come yet.
      if (/^\[?[{<](?:input )?"?value/.test(text)) continue;
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
      '[{"name":"color","value":"red"},{"value":1,"name":"size"},{"name":"password"},{"name":"x","value":"1"}]',
      'name=ann&value=5%25&to=https%3A%2F%2Fa.test%2F%3Fpage%3D2',
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
      'a=%41&',
      'a=%25',
      'a=%2526',
      'name="a" value="b" ',
      'name:"password"',
      'value="',
      'name:\\"',
      '%70',
      '\\u0070',
    ]) {
      const text = piece.repeat(Math.ceil(size / piece.length));
      const began = cpuTime();
      mask(text, false, true);
      mask(text, true, false);
      const took = cpuTime() - began;
      assert.ok(took < 1_000, `${piece}: ${took} ms`);
    }
  });
});
