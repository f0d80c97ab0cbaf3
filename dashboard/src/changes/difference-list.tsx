import { type Difference, valueText } from './differences.ts';

/** Old and new value of each field that differs. */
export function DifferenceList({ differences }: { readonly differences: readonly Difference[] }) {
  return (
    <dl className="differences">
      {differences.map(({ path, before, after }) => (
        <div key={path}>
          <dt>{path}</dt>
          {before !== undefined && (
            <dd>
              <span className="visually-hidden">before </span>
              <del>{valueText(before)}</del>
            </dd>
          )}
          {(after !== undefined || before === undefined) && (
            <dd>
              <span className="visually-hidden">after </span>
              <ins>{valueText(after)}</ins>
            </dd>
          )}
        </div>
      ))}
    </dl>
  );
}

interface WholeEntityProps {
  readonly differences: readonly Difference[];
}

/** The fields of an entity that is created or deleted: folded when they are many. */
export function WholeEntity({ differences }: WholeEntityProps) {
  if (differences.length <= maxUnfolded) return <DifferenceList differences={differences} />;
  return (
    <details className="more">
      <summary>{differences.length} fields</summary>
      <DifferenceList differences={differences} />
    </details>
  );
}

const maxUnfolded = 6;
