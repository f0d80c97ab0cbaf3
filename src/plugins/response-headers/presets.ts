export type PresetName = 'strict' | 'api' | 'none';

/**
 * Browser features that are off by default. From the OWASP Secure Headers Project (2024), without features that browsers do not
 * support.
 */
const permissions = [
  'accelerometer',
  'autoplay',
  'camera',
  'clipboard-read',
  'clipboard-write',
  'cross-origin-isolated',
  'display-capture',
  'encrypted-media',
  'fullscreen',
  'gamepad',
  'geolocation',
  'gyroscope',
  'hid',
  'idle-detection',
  'keyboard-map',
  'magnetometer',
  'microphone',
  'midi',
  'payment',
  'picture-in-picture',
  'publickey-credentials-get',
  'screen-wake-lock',
  'serial',
  'usb',
  'web-share',
  'xr-spatial-tracking',
]
  .map((feature) => `${feature}=()`)
  .join(', ');

const both: readonly (readonly [string, string])[] = [
  ['X-Content-Type-Options', 'nosniff'],
  ['X-Frame-Options', 'DENY'],
  ['X-Permitted-Cross-Domain-Policies', 'none'],
  ['Referrer-Policy', 'no-referrer'],
  ['Cross-Origin-Resource-Policy', 'same-origin'],
  ['Permissions-Policy', permissions],
];

/** Names and values, `Strict-Transport-Security` left out. Values are those that the OWASP Secure Headers Project recommends. */
export const presets: Readonly<Record<PresetName, readonly (readonly [string, string])[]>> = {
  // For pages. `base-uri` in addition to OWASP's directives: an injected `<base>` would redirect every relative script.
  strict: [
    ...both,
    [
      'Content-Security-Policy',
      "default-src 'self'; base-uri 'self'; form-action 'self'; object-src 'none'; frame-ancestors 'none'; upgrade-insecure-requests",
    ],
    ['Cross-Origin-Opener-Policy', 'same-origin'],
    ['Cross-Origin-Embedder-Policy', 'require-corp'],
  ],
  // For responses that are not pages: they must not be executed, framed or stored (OWASP REST Security Cheat Sheet).
  api: [
    ...both,
    ['Content-Security-Policy', "default-src 'none'; frame-ancestors 'none'"],
    ['Cache-Control', 'no-store'],
  ],
  none: [],
};

/** Headers that disclose the software and versions of backends, from the same project. */
export const leaks: readonly string[] = [
  'Server',
  'X-Powered-By',
  'Powered-By',
  'X-AspNet-Version',
  'X-AspNetMvc-Version',
  'X-CMS',
  'X-Framework',
  'X-Generated-By',
  'X-Generator',
  'X-Joomla-Version',
  'X-Mod-Pagespeed',
  'X-OWA-Version',
  'X-Php-Version',
  'X-Powered-CMS',
  'X-Server-Powered-By',
  'X-SourceFiles',
  'X-SourceMap',
  'X-Turbo-Charged-By',
  'X-Umbraco-Version',
  'X-Varnish-Backend',
  'X-Varnish-Server',
];
