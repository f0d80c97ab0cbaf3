import { compileRegex } from '../../plugin-kit/runtime/index.ts';

/** True for the `User-Agent` of a crawler or an HTTP library. Linear in its length. */
export function isKnownBot(agent: string): boolean {
  if (generic.some((pattern) => pattern.test(agent))) return true;
  const lower = agent.toLowerCase();
  return tokens.some((token) => lower.includes(token));
}

/**
 * Names of most crawlers: `Somebot/1.0`, `some-spider/2`, `SomeCrawler`. "bot" in any case would also match
 * telephones called `CUBOT`.
 */
const generic = [
  compileRegex('[Bb]ot[-_ ]?/ ?v?[0-9]'),
  compileRegex('[Bb]ot[;)]'),
  compileRegex('[Ss]pider(/|[;)]|$)'),
  compileRegex('[Cc]rawler'),
];

/** In lower case. Search engines, link previews, monitors, archives and AI crawlers that the rules above miss. */
const crawlers = [
  'adsbot-google',
  'apis-google',
  'archive.org_bot',
  'baiduspider',
  'bingpreview',
  'bitlybot',
  'bytespider',
  'ccbot',
  'chatgpt-user',
  'claude-user',
  'claude-web',
  'dataprovider.com',
  'duplexweb-google',
  'embedly',
  'facebookcatalog',
  'facebookexternalhit',
  'feedburner',
  'feedfetcher-google',
  'feedly',
  'flipboardproxy',
  'google favicon',
  'google-inspectiontool',
  'google-read-aloud',
  'google-safety',
  'googlebot',
  'googleother',
  'googleweblight',
  'heritrix',
  'ia_archiver',
  'linkedinbot',
  'mediapartners-google',
  'meta-externalagent',
  'meta-externalfetcher',
  'msnbot',
  'newrelicpinger',
  'nutch',
  'outbrain',
  'pingdom.com_bot',
  'proximic',
  'quora link preview',
  'redditbot',
  'screaming frog seo spider',
  'scrapy/',
  'skypeuripreview',
  'slackbot',
  'slack-imgproxy',
  'sogou web spider',
  'statuscake',
  'telegrambot',
  'tumblr/',
  'twitterbot',
  'uptimerobot',
  'vkshare',
  'w3c_validator',
  'whatsapp/',
  'wordpress.com mshots',
  'xing-contenttabreceiver',
  'yahoo! slurp',
  'yandexbot',
  'yeti/',
  'zgrab',
] as const;

/** Libraries that programs make requests with. Not curl: people use it. */
const libraries = [
  'aiohttp/',
  'apache-httpclient',
  'apache-httpasyncclient',
  'aws-cli/',
  'aws-sdk-',
  'axios/',
  'boto/',
  'boto3/',
  'botocore/',
  'commons-httpclient',
  'dart:io',
  'faraday v',
  'go-http-client',
  'google-http-java-client',
  'got (https://github.com/sindresorhus/got',
  'guzzlehttp',
  'http_request2',
  'http.rb/',
  'jakarta commons',
  'java/1.',
  'jersey/',
  'jetty/',
  'libwww-perl',
  'lwp::simple',
  'node-fetch/',
  'node-superagent/',
  'okhttp',
  'pycurl/',
  'python-httpx/',
  'python-requests',
  'python requests',
  'python-urllib',
  'reqwest/',
  'rest-client/',
  's3fs/',
  'typhoeus',
  'undici',
  'urlgrabber/',
  'winhttp',
] as const;

const tokens: readonly string[] = [...crawlers, ...libraries];
