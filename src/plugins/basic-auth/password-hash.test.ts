import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { matchesSlowly } from './check-password.ts';
import { matchesQuickly } from './check-quickly.ts';
import { isUnmistakableHash, parsePasswordHash } from './password-hash.ts';
import { scryptHash, unmatchableScrypt } from './scrypt-hash.ts';

/**
 * Made with `openssl passwd -apr1`, `-1`, `-5`, `-6`, and the others with crypt(3) of libxcrypt: `perl -e 'print crypt(...)'`.
 */
const vectors: readonly (readonly [password: string, hashes: readonly string[]])[] = [
  [
    'pw',
    [
      '$apr1$Sa1tSa1t$Zz2xaSe.M0D9UA/sxF8jW0',
      '$1$Sa1tSa1t$V3eOO04EJA1QCMOOvnuzl1',
      '$5$Sa1tSa1t$56hN770Yke8Ew8ZefDe89kLyUHkbDMPK8M77inzoyC6',
      '$6$Sa1tSa1t$0laWbSwV4IfJMeQ78ItkSmc5r8v3IheWsMNLVYsc1ercSM4UG9q/ZH9DoNhDURkepX8yLX/jadVKKETTinHwe/',
      '$apr1$xy$Y1bXHnOuwq3xcdFEYfCVp.',
      '$5$rounds=1000$abc$zdUXQ3de2d3x/8MYX1t30oZjPfJThZR5heHeVDYi8j6',
      '$6$rounds=7777$longersaltlonger$UhSo3OJvlSw7z4m8IdkCd8XlyPzyEydVcEO5TJVR7Ab5OQFaWIwlrvPXeqp6xiiDHv.P0wIWva0W1w2VSdXKV/',
      'abzlUXK5ed5rs',
      './Pkhn1tKbCbc',
      'zZdIVhqAptZNA',
      '9kSwwEgkY8N4Q',
      '$2y$05$abcdefghijklmnopqrstuuHIrMEWpUCQe2YqFR3sXwQ75u4od..9q',
      '$2b$04$abcdefghijklmnopqrstuuyvPXIbu7xe6/CED2DzX8z6Si09MlzlW',
      '$2a$05$CCCCCCCCCCCCCCCCCCCCC.Wu1bsEWQW5nNN6kAoQ74kf4plG/SBq6',
    ],
  ],
  [
    'correct horse battery staple',
    [
      '$apr1$Sa1tSa1t$.tmNm04xVQxwDp1HmGdGn0',
      '$1$Sa1tSa1t$uXWAR7CfBLJyUcLbu3ns01',
      '$5$Sa1tSa1t$I7dpNeJshUNGL.SMNC8DBux0Ckb0hY36VKo7AFvNZ1D',
      '$6$Sa1tSa1t$RUn0wK0ixusNaIZX/GdcvR.CsCU.vIt4EWupzNxrJSlicTfwFcFMYvyhjy0.41UpRveKU0kHoLwbBEVv.25w01',
      '$apr1$xy$TsPdyZQUg9o1dfca2PYPD0',
      '$5$rounds=1000$abc$yFR9nt4PC2G7yOzdmFUWdWqOk3dmkntPyf5wXUdFa8.',
      '$6$rounds=7777$longersaltlonger$6ftdftgJKimM9Fxz11ql/ZEoA9Sf4ZtgUfjU3Yz2vWWSW1gV9pIdNu0xAmd7xvJXmNscoUv0i5gPon8whbg7T1',
      'abhfCpXqd4GrI',
      './DA5yokVJ1R2',
      'zZbwUvsNVJ9FY',
      '9kU7EFRwqrEX2',
      '$2y$05$abcdefghijklmnopqrstuuFiPhXf1sVd3pCCRO.uVh34H/qI/ZsuS',
      '$2b$04$abcdefghijklmnopqrstuu7EJV7kdjBBQxyb0HjTh9KS7.Lah/6CG',
      '$2a$05$CCCCCCCCCCCCCCCCCCCCC.poIKaw08HWUz4zkVKLs8VPIydUmXBPC',
    ],
  ],
  [
    'pässwörd',
    [
      '$apr1$Sa1tSa1t$rI0XavRSjNBn91m0rJdFT0',
      '$1$Sa1tSa1t$xTLMMIE6IMB9dDlktyMcW/',
      '$5$Sa1tSa1t$pd6TtplWPgwbIIn7qsuqCOJMPw0tVCTuYKrbTbfbaz2',
      '$6$Sa1tSa1t$4.SfLzOImNNWvOFEt5eVpfsO9Daw2X8oDmbtEM9Xr/Uv7WAOyzYq22xTQmTusu0Tusqm4OQyClvT70Qw4OPHX/',
      '$apr1$xy$opYesIT4qQnqOl4dmUTIR0',
      '$5$rounds=1000$abc$JQ8Zdc9mzuZlmuhnBPjGoWbKWzp40ZOBNh7xy8VZld7',
      '$6$rounds=7777$longersaltlonger$nMSWApm.DZnTDdWPPXSLqbxTqw7eK8ChO7D26QG2WlabVT6d3HoyfopL4kVz4NqWTk8Ssh4a4iEPbpXyA23uM/',
      'abzp3RXJm5gNA',
      './vYBXr45rAoM',
      'zZw8laZTywrOQ',
      '9kdzPImzIS5s2',
      '$2y$05$abcdefghijklmnopqrstuuZVEMa1pjhlynBQ1qXmSvGBJpN9h1w8G',
      '$2b$04$abcdefghijklmnopqrstuuyx2n0Zzopyr9QuYTMCfOJJOj526QVoC',
      '$2a$05$CCCCCCCCCCCCCCCCCCCCC.VbkrrNItU.9NIb/IkEA2mwWrOjK5F3G',
    ],
  ],
  [
    '',
    [
      '$apr1$Sa1tSa1t$vhJ3stESpfxxVOjBzc0GD/',
      '$1$Sa1tSa1t$8ZomhVgDecqiO8uZxzMQs/',
      '$apr1$xy$43..WIhbfuznGvwoCyUek/',
      '$5$rounds=1000$abc$sP9FmVrTEqPcRDE7OxGDY0efugGF1dtCtqYcUsX9wmD',
      '$6$rounds=7777$longersaltlonger$kiep2Y2GdtQ6/37ovzDFhn2kM0QcxOO4ZBl8yNcAYgwK09mtd6smqob/a8bn.CJSeA/BVycvteZ2nnjp8mbTc1',
      'abmF1QH4PEr.E',
      './Una9Fi.seRo',
      'zZO7u0HfQST3A',
      '9kF3N2YpxvHiI',
      '$2y$05$abcdefghijklmnopqrstuu0oImNDIy4flhldV9YqunRgBAePKmw7m',
      '$2b$04$abcdefghijklmnopqrstuubyCG3zY1GIXMyxfivm.ClDiInHzxjiq',
      '$2a$05$CCCCCCCCCCCCCCCCCCCCC.7uG0VCzI2bS7j6ymqJi9CdcdxiRTWNy',
    ],
  ],
  [
    'a'.repeat(120),
    [
      '$apr1$Sa1tSa1t$ja1YW12qKoMRYCAUgrm2B0',
      '$1$Sa1tSa1t$jl3VMtzfL3Wzd9KdyHz9P0',
      '$5$Sa1tSa1t$6w0nydgXOfMIeCfJG8FwVoq30Tgem7ht3FoJw6QyLh3',
      '$6$Sa1tSa1t$RcGvKPIo8jnIITZR6oRlToWvVj.YlryF3K1DOhjhBGixpEji6ZlZQ/k.zZfmi3dIX9sn4Bhr.kGnH2jKlcmD40',
      '$apr1$xy$5eZOCCNilSv0dBycNRzqa1',
      '$5$rounds=1000$abc$3USLwn8gKtZn7nCcMhQKlntpiHcG/n63eNglq2iWrbA',
      '$6$rounds=7777$longersaltlonger$0Q3FYSeaS1QBQuS13HpI7YJe7YXo8FdEv9ZC1.2BGnO8tSOeWjfi65HQdd4IJvVXz.xQGzEbzJlwHM1IzfqoB0',
      'abBUNZY4cR2mg',
      './p6IkxJuGIe6',
      'zZeSN.DAM5FSw',
      '9kvOZAowMccsQ',
      '$2y$05$abcdefghijklmnopqrstuuGUnCqbfgs3htOkLrFduUjAyLBw1Rq/u',
      '$2b$04$abcdefghijklmnopqrstuuBzzIgyKkz7xMWYSzkIjUSnxEQFQ0WNe',
      '$2a$05$CCCCCCCCCCCCCCCCCCCCC.ODcEJfYFxKziEakDsjep8mcF3zSCvHq',
    ],
  ],
  [
    'exactly8',
    [
      '$apr1$Sa1tSa1t$xdb9F39tP7cyyGgKqh2SE1',
      '$1$Sa1tSa1t$Ct97r1RkQ2PxgQCRdQq4Q.',
      '$5$Sa1tSa1t$oMeTox.AVC52J8T3Np3A5Lnu8.H0MZ74./ChFiJtAl5',
      '$6$Sa1tSa1t$Hbgd/kx6iA1hZSgyvo3ie1yC6NWWXNQIoNoRp5mgVE7KWd3.tRnLAGeF8ztrymuhFP2/WpSeqXPBumIy1D4sW1',
      '$apr1$xy$uhWOhUlESWGBH7OBwPHfb0',
      '$5$rounds=1000$abc$fQrjbD52q3wW1k7G4JfzqpvB4MyCzlbCiZjU.q/TpW3',
      '$6$rounds=7777$longersaltlonger$bOu4tzB.TLj/ytPPzoVwDXdkFO23tfJppwzcnIeB7bZXXA7mtLh813QwpoRNV9f9GOqRTq5XvvcmTTa7ii5SP.',
      'abOrY9UZdvo0A',
      './pyAaMYac3aM',
      'zZl6M93HHw4lI',
      '9kicgb95Mp0HU',
      '$2y$05$abcdefghijklmnopqrstuuQdB2qLbU6EJjs/XumQxJqNyo7xadEp2',
      '$2b$04$abcdefghijklmnopqrstuuzuDc.LIJxs6L6SQY738uRLySIq4wW9.',
      '$2a$05$CCCCCCCCCCCCCCCCCCCCC.xQW5mFRMjdjSrydWxCYha3azbHsaJEW',
    ],
  ],
  [
    'sixteen_chars_pw',
    [
      '$apr1$Sa1tSa1t$xmIoFKQCIfJ586Vfqst.v/',
      '$1$Sa1tSa1t$/Rem9ngjA5vSnJAYjbxAQ0',
      '$5$Sa1tSa1t$dmMO0KxfaXsT7u0kDReuWFKWmKULGl0EbsxmE0dkRuC',
      '$6$Sa1tSa1t$oZWz8kWZz8lcoAg6RRkORZPTtExRZKtqxtNzd0Q0eYuweP15vyJG9HVGhMltz/8DYZeg9g2upX7ZrtBd41ssb.',
      '$apr1$xy$Yx/OhLKrt94C430mbjgiY1',
      '$5$rounds=1000$abc$nf.su/.Mx1PUqb4yh582KiOD1RIdGXs/3X3KdXAAcG5',
      '$6$rounds=7777$longersaltlonger$V5LCwShqJwxIP./OJzO6Ra1t3tnZSlQZKW6zCfHRQiDt5euDyfQ5wkzXyhHf/Im/yacdzsDap7XWy/zoehpwg.',
      'abOvezx9CFzKU',
      './bCg0ddRFjUk',
      'zZeyXstycSG6.',
      '9k.xq/htfC/z2',
      '$2y$05$abcdefghijklmnopqrstuuusC1GD1mNeC5xmzOlUztTHM/Cete6We',
      '$2b$04$abcdefghijklmnopqrstuuEpxeYoW6R9rus7TC948lwIIWNgmI8da',
      '$2a$05$CCCCCCCCCCCCCCCCCCCCC.xw2fvzNFhfGE/mnSGZdRBnFZT/x26O.',
    ],
  ],
  [
    'thirty-two characters of a text!',
    [
      '$apr1$Sa1tSa1t$E3GrtqSQafT.Y6yPld9NV/',
      '$1$Sa1tSa1t$ndZI/Zl2ie6SpfhIhijR/.',
      '$5$Sa1tSa1t$mMvQOdcWj6ZeEwpc2kvwkYZuWKXKVkf479VP3RxR2SB',
      '$6$Sa1tSa1t$AhTRCM7fI3G699Bmqv1gX8.5.POuMUHhDxPrKR4o9ZB70qECOxmqEhquHegdGJUyE9Jnj.IvESW6M.NpYSDP11',
      '$apr1$xy$UsewmYzMERhr.q2OaV70h.',
      '$5$rounds=1000$abc$9odcPOeDUhhnGGRlkwO.XWBG1E9Kn1lnrU51gevnPf.',
      '$6$rounds=7777$longersaltlonger$kXKumF1DJR3R5wJY0N148lL.QJJycwDW4PJxIMxCBZXCaLD9GNNDiRk6SiaGjnZqWxnny8Z7n55imWGEIXf1D1',
      'aba0k1vHLwVkA',
      './q1HkUdNQttQ',
      'zZ067KbQvD/pM',
      '9kwYtD9Qke54E',
      '$2y$05$abcdefghijklmnopqrstuuONNpoJk2v65GatgJa1UqQfurdGTLXXS',
      '$2b$04$abcdefghijklmnopqrstuuQ5UMWMvhwUEBqPdGhOUCTbqnX7mJ6Sq',
      '$2a$05$CCCCCCCCCCCCCCCCCCCCC.QRF/gG.RZPJBoqxNTnc2BWJgI3ZAzuu',
    ],
  ],
  [
    'sixty-four characters of a text, that is one block of SHA-256 !!',
    [
      '$apr1$Sa1tSa1t$6grBSQ061w6Pd908/RWfa0',
      '$1$Sa1tSa1t$Dpeyjt2VNpK2JJsq8AAfS/',
      '$5$Sa1tSa1t$PPGjnPJj2Y388zedn3/JVoPAs3iuc.hKFaXz8l0ZiyD',
      '$6$Sa1tSa1t$sAuEXdEMVRvdpiEStcKmjpMgvI6dItQPkLJZ8o2HIUkS2rzYkwRik5JzKGRMZoJ7yz6MWYqZ0.iLJi8dVxk0c/',
      '$apr1$xy$PeD1maAC7AyTqvYYpr/IN1',
      '$5$rounds=1000$abc$hRdZSIO1nfjT4u9oHUZbIoox0yDcRaraUC9lw68zwG3',
      '$6$rounds=7777$longersaltlonger$M8lKhAfgN5yNMvQ//iCqk34OiZ2922xnVHfCA5myP1wIC0FPdWQoMuxoLmqfEeXbI651sS9oytrXwlGHQEWvm/',
      'abXZ1FLxB9AGM',
      './hzUcl0HMbII',
      'zZJ9dT3NWtzlQ',
      '9k/8ldFb.X.HY',
      '$2y$05$abcdefghijklmnopqrstuuu6IhundUAW5oks3nrtPNC9dgTUK5SBi',
      '$2b$04$abcdefghijklmnopqrstuub8J0ltAv9u3xyy0DZT3TFk7F68.bsCq',
      '$2a$05$CCCCCCCCCCCCCCCCCCCCC.t//XA3FeFNKKoAAD.is6UCNm9/jKYM6',
    ],
  ],
];

describe('passwords and their hashes', () => {
  for (const [password, hashes] of vectors) {
    it(`of ${JSON.stringify(password)} match`, () => {
      for (const hash of hashes) {
        assert.notEqual(parsePasswordHash(hash), null, hash);
        assert.equal(matchesSlowly(Buffer.from(password), hash), true, hash);
        assert.equal(matchesSlowly(Buffer.from(`x${password}`), hash), false, hash);
      }
    });
  }

  it('of SHA-1 match, with a salt and without', () => {
    // `openssl dgst -sha1 -binary | base64`; the salt is `salt`, the consumer `c0ffee`.
    const matches = (text: string, password = 'secret') => {
      const hash = parsePasswordHash(text);
      assert.ok(hash !== null, text);
      return matchesQuickly(Buffer.from(password), hash, 'c0ffee');
    };
    for (const text of [
      '{SHA}5en6G6MezRroT3XKqkdPOmY/BfQ=',
      '{SSHA}gVK8WC9YyFT1gMsQHTGCgT3sSv5zYWx0',
      '{SSHA}tCNGqyJLk/uvKpCa4vga5GB2gWoxMjM0NTY3OA==',
      '$kong-sha1$a34a31283f090a4768fdf7f0db5f355507257511',
    ]) {
      assert.equal(matches(text), true, text);
      assert.equal(matches(text, 'Secret'), false, text);
      assert.equal(matches(text, ''), false, text);
    }
  });

  it('of scrypt match, and the decoy matches nothing', async () => {
    const hash = await scryptHash('secret');
    assert.match(hash, /^\$scrypt\$ln=14,r=8,p=1\$/);
    assert.notEqual(hash, await scryptHash('secret'));
    assert.deepEqual(
      [matchesSlowly(Buffer.from('secret'), hash), matchesSlowly(Buffer.from('Secret'), hash)],
      [true, false],
    );
    assert.equal(matchesSlowly(Buffer.from('secret'), unmatchableScrypt()), false);
  });
});

describe('a hash', () => {
  const b64 = 'A'.repeat(53);
  it('is refused when malformed or too costly', () => {
    const texts = [
      '',
      'secret',
      'plain-password',
      '{SHA}short=',
      '{SSHA}W6ph5Mm5Pz8GgiULbPgzG37mj9g=',
      '{PLAIN}secret',
      `$2y$15$${b64}`,
      `$2y$31$${b64}`,
      `$2y$03$${b64}`,
      `$2x$10$${b64}`,
      `$2y$10$${b64}A`,
      `$6$rounds=1000001$salt$${'A'.repeat(86)}`,
      `$5$rounds=999$salt$${'A'.repeat(43)}`,
      `$5$seventeen_letters$${'A'.repeat(43)}`,
      '$apr1$Sa1tSa1t$short',
      `$apr1$ninechars$${'A'.repeat(22)}`,
      '$scrypt$ln=18,r=8,p=1$AAAAAAAAAAAAAAAAAAAAAA$AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
      '$argon2id$v=19$m=65536,t=3,p=4$c2FsdA$aGFzaA',
      '$kong-sha1$ABC',
    ];
    for (const text of texts) assert.equal(parsePasswordHash(text), null, text);
  });
  it('of thirteen letters counts as a password', () => {
    assert.equal(isUnmistakableHash('abzlUXK5ed5rs'), false);
    assert.equal(isUnmistakableHash(`$2y$10$${b64}`), true);
    assert.equal(isUnmistakableHash('secret'), false);
  });
});
