// Check the types, and write what the package has of them in `types/`: the .d.ts files, and a reference of what it exports.

import ts from "typescript";
import { writeFileSync } from "node:fs";
import { fileURLToPath } from "node:url";

const file = (/** @type {string} */ name) => fileURLToPath(new URL(name, import.meta.url));
const { options, fileNames } = ts.parseJsonConfigFileContent(ts.readConfigFile(file("tsconfig.json"), ts.sys.readFile).config, ts.sys, file("."));
const program = ts.createProgram(fileNames, options);
const checker = program.getTypeChecker();

/** @param {string} name */
function exportsOf(name) {
  const module = checker.getSymbolAtLocation(/** @type {ts.SourceFile} */ (program.getSourceFile(file(name))));
  return checker.getExportsOfModule(/** @type {ts.Symbol} */ (module));
}

/** @param {ts.Symbol} symbol */
const wordsOf = (symbol) => ts.displayPartsToString(symbol.getDocumentationComment(checker)).replaceAll(/\s*\n\s*/g, " ").trim();

/** @param {ts.Type} type @param {boolean} [mayLack] */
function written(type, mayLack = false) {
  const text = checker.typeToString(type, undefined, ts.TypeFormatFlags.NoTruncation);
  const short = text.replaceAll(/(typeof )?import\("[^"]*"\)\./g, "").replaceAll(/<ArrayBuffer(Like)?>/g, "");
  return mayLack ? short.replaceAll(" | undefined", "") : short;
}

/** @param {ts.Symbol} symbol */
const typeOf = (symbol) => checker.getTypeOfSymbol(symbol);

/** Return a call as it is written. @param {string} name @param {ts.Signature} signature @param {boolean} isNew */
function callOf(name, signature, isNew) {
  const given = signature.parameters.map((parameter) => {
    const declared = /** @type {ts.ParameterDeclaration} */ (parameter.valueDeclaration);
    const given = ts.isIdentifier(declared.name) ? parameter.name.replace(/^_/, "") : "options";
    const mayLack = checker.isOptionalParameter(declared);
    return `${declared.dotDotDotToken ? "..." : ""}${given}${mayLack ? "?" : ""}: ${written(typeOf(parameter), mayLack)}`;
  });
  return isNew ? `new ${name}(${given.join(", ")})` : `${name}(${given.join(", ")}): ${written(signature.getReturnType())}`;
}

/** Return what is told of parameters, errors and results. @param {ts.Signature | ts.Symbol} told */
function tagsOf(told) {
  return told.getJsDocTags(/** @type {any} */ (checker)).flatMap(({ name, text }) => {
    const words = ts.displayPartsToString(text).replaceAll(/\s*\n\s*/g, " ").trim();
    if (name === "param" && words.includes(" ")) return [`\`${words.split(" ")[0].replace(/^_/, "")}\`: ${words.split(" ").slice(1).join(" ")}`];
    const [, error, why] = /^\{(\w+)\} ?(.*)$/.exec(words) ?? [];
    return name === "throws" ? [`throws \`${error}\`${why ? `: ${why}` : ""}`] : [];
  });
}

/** @param {string} call @param {string} words @param {string[]} more */
const item = (call, words, more = []) => [`- \`${call}\`${words ? `: ${words}` : ""}`, ...more.map((line) => `  - ${line}`)].join("\n");

/** @param {ts.Symbol} symbol */
const isPublic = (symbol) => !symbol.name.startsWith("#") && !symbol.name.startsWith("__") && symbol.name !== "prototype"
  && !symbol.getJsDocTags(checker).some((tag) => tag.name === "internal");

/** @param {ts.Symbol} member */
function memberOf(member) {
  const [signature] = typeOf(member).getCallSignatures();
  if (signature === undefined || !(member.flags & ts.SymbolFlags.Method)) return item(`${member.name}: ${written(typeOf(member))}`, wordsOf(member));
  return item(callOf(member.name, signature, false), wordsOf(member), tagsOf(signature));
}

/** @param {ts.Symbol} symbol */
function classOf(symbol) {
  const made = typeOf(symbol).getConstructSignatures()[0];
  const members = checker.getDeclaredTypeOfSymbol(symbol).getProperties().filter((member) => isPublic(member) && isOurs(member));
  return [item(callOf(symbol.name, made, true), "", tagsOf(made)), ...members.map(memberOf)];
}

/** @param {ts.Symbol} field */
function fieldOf(field) {
  const mayLack = Boolean(field.flags & ts.SymbolFlags.Optional);
  return item(`${field.name}${mayLack ? "?" : ""}: ${written(typeOf(field), mayLack)}`, wordsOf(field));
}

/** @param {ts.Symbol} symbol */
const isOurs = (symbol) => symbol.declarations?.some((declared) => !declared.getSourceFile().isDeclarationFile) ?? false;

/** Return what a name stands for: a type of another module that has a name there, too. @param {ts.Symbol} symbol */
function meantBy(symbol) {
  if (symbol.flags & ts.SymbolFlags.Alias) return checker.getAliasedSymbol(symbol);
  if (!(symbol.flags & ts.SymbolFlags.TypeAlias)) return symbol;
  const { type } = /** @type {ts.JSDocTypedefTag & {type: ts.TypeNode}} */ (symbol.declarations?.[0]).typeExpression ?? {};
  const named = type && ts.isImportTypeNode(type) && type.qualifier ? checker.getSymbolAtLocation(type.qualifier) : undefined;
  return named ?? symbol;
}

/** Return the lines of a type: its fields, or what it is one of. @param {ts.Type} type */
function typeLines(type) {
  const members = type.isUnion() ? type.types : [type];
  if (type.isUnion() && members.every((member) => member.getProperty("type"))) return members.map((member) => item(written(member), ""));
  const fields = type.isUnion() ? [] : type.getProperties().filter(isOurs);
  const whole = ts.TypeFormatFlags.NoTruncation | ts.TypeFormatFlags.InTypeAlias;
  return fields.length ? fields.map(fieldOf) : [item(checker.typeToString(type, undefined, whole), "")];
}

/** @param {ts.Symbol} symbol */
function section(symbol) {
  const own = meantBy(symbol);
  const lines = [`## ${symbol.name}`, "", wordsOf(own), ""];
  if (own.flags & ts.SymbolFlags.Class) return [...lines, ...classOf(own)];
  if (own.flags & ts.SymbolFlags.TypeAlias) return [...lines, ...typeLines(checker.getDeclaredTypeOfSymbol(own))];
  return [...lines, ...typeOf(own).getCallSignatures().map((signature) => item(callOf(symbol.name, signature, false), "", tagsOf(signature)))];
}

const named = exportsOf("src/index.js").toSorted((one, other) => one.name.localeCompare(other.name));
const text = [
  "# Reference of the JavaScript SDK", "",
  "What `battleship-salvo` exports. [The guide](../client_sdk/javascript/README.md) shows how it is used. Generated from",
  "the package's own comments and types: `npm run types` in `client_sdk/javascript` writes `types/reference.md`.", "",
  ...named.flatMap((symbol) => [...section(symbol), ""]),
].join("\n");
const { diagnostics } = program.emit();
const wrong = [...ts.getPreEmitDiagnostics(program), ...diagnostics];
writeFileSync(file("types/reference.md"), `${text.replaceAll(/\n{3,}/g, "\n\n").trimEnd()}\n`);
console.error(ts.formatDiagnostics(wrong, { getCurrentDirectory: () => file("."), getCanonicalFileName: (name) => name, getNewLine: () => "\n" }));
process.exitCode = wrong.length ? 1 : 0;
