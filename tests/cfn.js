// cfn.js TEMPLATE DATASOURCE: what CloudFormation would refuse of a template, by
// its own description of each resource, and what ours must not do; one line
// each. Needs yaml and @aws-cdk/aws-service-spec.
"use strict";
const fs = require("fs"), YAML = require("yaml");
const {loadAwsServiceSpecSync} = require("@aws-cdk/aws-service-spec");

const plain = v => (v && v.toJSON ? v.toJSON() : v);
const tag = (name, key) => ["", "map", "seq"].map(kind => ({
  tag: "!" + name,
  ...(kind ? {collection: kind} : {}),
  resolve: v => {
    const value = plain(v);
    return {[key]: name === "GetAtt" && typeof value === "string" ? value.split(/\.(.*)/s).slice(0, 2) : value};
  },
}));
const tags = [["Ref", "Ref"], ["Condition", "Condition"],
  ...["GetAtt", "Sub", "If", "Equals", "Not", "Select", "GetAZs", "Join"].map(n => [n, "Fn::" + n])]
  .flatMap(([n, k]) => tag(n, k));
// What a tag gave is a value: inner ones are looked at again.
const settle = v => Array.isArray(v) ? v.map(settle)
  : v && typeof v === "object" ? Object.fromEntries(Object.entries(plain(v)).map(([k, x]) => [k, settle(x)])) : v;
const doc = YAML.parseDocument(fs.readFileSync(process.argv[2], "utf8"), {customTags: tags});
const say = (...words) => console.log(words.join(" "));
doc.errors.forEach(e => say("syntax:", e.message));
const t = settle(doc.toJS());
const db = loadAwsServiceSpecSync();
const used = new Set(), params = t.Parameters, res = t.Resources;

const specOf = type => {
  const found = db.lookup("resource", "cloudFormationType", "equals", type);
  return found.length ? found[0] : null;
};
function attribute(name, attr, where) {
  used.add(name);
  if (!res[name]) return say(where + ": no resource", name);
  const spec = specOf(res[name].Type);
  if (spec && !(attr in spec.attributes) && !(attr in spec.properties) &&
      !Object.keys(spec.attributes).some(a => a.split(".")[0] === attr.split(".")[0]))
    say(where + ":", name, "has no attribute", attr);
}
function reference(name, where) {
  used.add(name);
  if (!name.startsWith("AWS::") && !(name in params) && !(name in res)) say(where + ": no", name);
}
function walk(v, where) {
  if (Array.isArray(v)) return v.forEach((x, i) => walk(x, where + "." + i));
  if (!v || typeof v !== "object") return;
  for (const [k, x] of Object.entries(v)) {
    if (k === "Ref") reference(x, where);
    else if (k === "Fn::GetAtt") attribute(x[0], x[1], where);
    else if (k === "Fn::Sub")
      for (const m of x.matchAll(/\$\{([^}!]+)\}/g)) {
        const [name, ...attr] = m[1].split(".");
        if (attr.length) attribute(name, attr.join("."), where);
        else reference(name, where);
      }
    else if (k === "Fn::If") {
      used.add(x[0]);
      if (!(x[0] in t.Conditions)) say(where + ": no condition", x[0]);
      walk(x.slice(1), where);
    } else walk(x, where + "." + k);
  }
}
const intrinsic = v => v && typeof v === "object" && !Array.isArray(v) &&
  Object.keys(v).length === 1 && /^(Ref|Fn::.*)$/.test(Object.keys(v)[0]);

// Names of properties, down through the types.
function shape(v, props, where) {
  for (const k of Object.keys(v))
    if (!(k in props)) say(where + ": no property", k);
  for (const [k, p] of Object.entries(props)) {
    if (p.required && !(k in v)) say(where + ": lacks", k);
    if (k in v) typed(v[k], p.type, where + "." + k);
  }
}
function typed(v, type, where) {
  if (intrinsic(v)) {
    if (v["Fn::If"]) v["Fn::If"].slice(1).forEach(x => typed(x, type, where));
    return;
  }
  if (type.type === "array") {
    if (!Array.isArray(v)) return say(where + ": must be a list");
    v.forEach((x, i) => typed(x, type.element, where + "." + i));
  } else if (type.type === "ref") {
    const d = db.get("typeDefinition", type.reference.$ref);
    if (typeof v !== "object") say(where + ": must be an object");
    else shape(v, d.properties, where);
  } else if (type.type === "integer" || type.type === "number" || type.type === "boolean") {
    if (typeof v !== (type.type === "boolean" ? "boolean" : "number") && typeof v !== "string")
      say(where + ": must be of type", type.type);
  } else if (type.type === "string" && typeof v === "object") say(where + ": must be a string");
}

for (const [name, r] of Object.entries(res)) {
  const spec = specOf(r.Type);
  if (!spec) {
    say(name + ": no type", r.Type);
    continue;
  }
  shape(r.Properties || {}, spec.properties, name);
  walk(r.Properties, name);
  [].concat(r.DependsOn || []).forEach(d => reference(d, name));
  if (r.Condition) {
    used.add(r.Condition);
    if (!(r.Condition in t.Conditions)) say(name + ": no condition", r.Condition);
  }
}
walk(t.Conditions, "Conditions");
walk(t.Outputs, "Outputs");
for (const n of [...Object.keys(params), ...Object.keys(t.Conditions)])
  if (!used.has(n)) say(n, "is not used");

// No circle among the resources.
const needs = v => JSON.stringify(v).match(/"(Ref|Fn::GetAtt|Fn::Sub|DependsOn)":("[^"]*"|\[[^\]]*\])/g) || [];
const edges = Object.fromEntries(Object.entries(res).map(([n, r]) => [n,
  Object.keys(res).filter(m => m !== n && needs(r).some(s => new RegExp("[\"{]" + m + "[\"}.]").test(s)))]));
const state = {};
function visit(n, path) {
  if (state[n] === 1) return say("circle:", [...path, n].join(" -> "));
  if (state[n]) return;
  state[n] = 1;
  edges[n].forEach(m => visit(m, [...path, n]));
  state[n] = 2;
}
Object.keys(res).forEach(n => visit(n, []));

// Ours: nothing is public but CloudFront, no secret is written down.
for (const [name, r] of Object.entries(res)) {
  const p = r.Properties || {}, text = JSON.stringify(p);
  if (/"(MapPublicIpOnLaunch|PubliclyAccessible)":true|"AssignPublicIp":"ENABLED"|internet-facing/.test(text))
    say(name, "is public");
  for (const i of p.SecurityGroupIngress || [])
    if (/"CidrIp(v6)?":"/.test(JSON.stringify(i))) say(name, "lets in an address");
  if (/"[A-Za-z]*(Password|SecretString|_PASSWORD)":"/.test(text) ||
      (p.ContainerDefinitions || []).some(c => c.Environment.some(e => /PASSWORD|SECRET|KEY/.test(e.Name))))
    say(name, "has a secret");
  for (const c of p.ContainerDefinitions || [])
    if (!/:\d+\.\d+(\.\d+)?@sha256:[0-9a-f]{64}$/.test(params[c.Image.Ref].Default)) say(name, "image", c.Image.Ref);
}
for (const b of res.Distribution.Properties.DistributionConfig.CacheBehaviors)
  if (b.OriginRequestPolicyId) say(b.PathPattern, "is kept for all, with what one visitor sent");
const ci = JSON.stringify(res.CiRole.Properties.Policies);
for (const action of ["rds-db:connect", "s3:PutObject", "s3:ListBucket"])
  if (!ci.includes(`"Action":"${action}"`)) say("CiRole lacks", action);
if (ci.includes("*\",") || ci.includes(":*\"")) say("CiRole may too much");
const env = res.GrafanaTask.Properties.ContainerDefinitions[0].Environment;
if (env.find(e => e.Name === "DATASOURCES").Value !== fs.readFileSync(process.argv[3], "utf8"))
  say("DATASOURCES is not", process.argv[3]);
say("looked at", Object.keys(res).length, "resources");
