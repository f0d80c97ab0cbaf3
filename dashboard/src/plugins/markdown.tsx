import { Link } from '@tanstack/react-router';
import { createElement, Fragment } from 'react';
import { type Block, type Inline, inlineParts, markdownBlocks } from './markdown-blocks.ts';

/** Markdown as elements; headings begin one level below that of the page. */
export function Markdown({ source }: { readonly source: string }) {
  const blocks = markdownBlocks(source);
  return <div className="markdown">{blocks.map((block, at) => createElement(BlockView, { key: at, block }))}</div>;
}

function BlockView({ block }: { readonly block: Block }) {
  switch (block.kind) {
    case 'heading':
      return createElement(`h${Math.min(6, block.level + 1)}`, null, <Text source={block.text} />);
    case 'paragraph':
      return (
        <p>
          <Text source={block.text} />
        </p>
      );
    case 'code':
      return (
        // biome-ignore lint/a11y/noNoninteractiveTabindex: it can be scrolled by the keyboard
        <pre className="code" tabIndex={0}>
          {block.text}
        </pre>
      );
    case 'list':
      return createElement(
        block.ordered ? 'ol' : 'ul',
        null,
        ...block.items.map((item) => (
          <li key={item}>
            <Text source={item} />
          </li>
        )),
      );
    case 'table':
      return <Table {...block} />;
  }
}

function Table({ head, rows }: Extract<Block, { readonly kind: 'table' }>) {
  const label = head.filter((cell) => cell !== '').join(', ');
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: it can be scrolled by the keyboard
    // biome-ignore lint/a11y/useSemanticElements: it is no section
    <div className="markdown-table" role="region" aria-label={label || 'Table'} tabIndex={0}>
      <table>
        <thead>
          <tr>
            {head.map((cell) =>
              cell === '' ? (
                <td key="empty" />
              ) : (
                <th key={cell} scope="col">
                  <Text source={cell} />
                </th>
              ),
            )}
          </tr>
        </thead>
        <tbody>
          {rows.map((row) => (
            <tr key={row.join('|')}>
              {row.map((cell, at) => createElement('td', { key: at }, <Text source={cell} />))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Text({ source }: { readonly source: string }) {
  return createElement(Fragment, null, ...inlineParts(source).map(inline));
}

function inline(part: Inline) {
  switch (part.kind) {
    case 'text':
      return part.text;
    case 'code':
      return <code>{part.text}</code>;
    case 'strong':
      return <strong>{part.text}</strong>;
    case 'link':
      return <TextLink {...part} />;
  }
}

/** Links to plugins stay in the dashboard, and those to the web open a page; other files of the repository are not here. */
function TextLink({ text, target }: { readonly text: string; readonly target: string }) {
  const [, plugin] = /^\.\.\/([a-z0-9-]+)\/README\.md(?:#.*)?$/.exec(target) ?? [];
  if (plugin !== undefined) {
    return (
      <Link to="/plugins/$name" params={{ name: plugin }}>
        {text}
      </Link>
    );
  }
  if (!/^https?:\/\//.test(target)) return text;
  return (
    <a href={target} target="_blank" rel="noreferrer noopener">
      {text}
    </a>
  );
}
